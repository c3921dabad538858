/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names Vulkan result codes, and records them as the thread's last error. */
#include "vk/device/device.h"

#include <stdarg.h>
#include <stdio.h>

/* The result codes of Vulkan 1.2, and those of the extensions that this library uses. */
#define RESULTS(X)                                                                                 \
    X(VK_SUCCESS)                                                                                  \
    X(VK_NOT_READY)                                                                                \
    X(VK_TIMEOUT)                                                                                  \
    X(VK_EVENT_SET)                                                                                \
    X(VK_EVENT_RESET)                                                                              \
    X(VK_INCOMPLETE)                                                                               \
    X(VK_ERROR_OUT_OF_HOST_MEMORY)                                                                 \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY)                                                               \
    X(VK_ERROR_INITIALIZATION_FAILED)                                                              \
    X(VK_ERROR_DEVICE_LOST)                                                                        \
    X(VK_ERROR_MEMORY_MAP_FAILED)                                                                  \
    X(VK_ERROR_LAYER_NOT_PRESENT)                                                                  \
    X(VK_ERROR_EXTENSION_NOT_PRESENT)                                                              \
    X(VK_ERROR_FEATURE_NOT_PRESENT)                                                                \
    X(VK_ERROR_INCOMPATIBLE_DRIVER)                                                                \
    X(VK_ERROR_TOO_MANY_OBJECTS)                                                                   \
    X(VK_ERROR_FORMAT_NOT_SUPPORTED)                                                               \
    X(VK_ERROR_FRAGMENTED_POOL)                                                                    \
    X(VK_ERROR_UNKNOWN)                                                                            \
    X(VK_ERROR_OUT_OF_POOL_MEMORY)                                                                 \
    X(VK_ERROR_INVALID_EXTERNAL_HANDLE)                                                            \
    X(VK_ERROR_FRAGMENTATION)                                                                      \
    X(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)                                                     \
    X(VK_ERROR_VALIDATION_FAILED_EXT)

#define NAME_CASE(name)                                                                            \
    case name:                                                                                     \
        return #name;

const char *vk_result_name(VkResult result)
{
    switch (result) {
        RESULTS(NAME_CASE)
    default:
        return result < 0 ? "VK_ERROR_ (no name known)" : "VkResult (no name known)";
    }
}

/* Returns advice that follows from the code alone. It begins with a blank. */
static const char *advice(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return " The device is out of memory: free some, or request less.";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return " The process is out of memory.";
    case VK_ERROR_DEVICE_LOST:
        return " The VkDevice is lost: create it and its objects again. The validation layer may "
               "report the cause.";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return " Too many objects of this kind exist: free some.";
    default:
        return "";
    }
}

gr_status vk_fail(VkResult result, const char *call, const char *format, ...)
{
    struct gr_error_record shape;
    char message[sizeof(shape.message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return gr_fail_code(GR_ERR_VULKAN, GR_DOMAIN_VULKAN, (int)result, vk_result_name(result), call,
                        "%s%s", message, advice(result));
}
