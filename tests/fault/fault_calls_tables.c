/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which functions can fail, and how. */
#include "fault_calls_parts.h"

#include <errno.h>
#include <string.h>

static const struct system_function system_functions[] = {
    {"calloc", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"malloc", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"realloc", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"strdup", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"__register_atfork", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"access", CALL_SYSTEM, ANSWER_MINUS_ONE, EACCES},
    {"close", CALL_SYSTEM, ANSWER_MINUS_ONE, EIO},
    {"dladdr", CALL_SYSTEM, ANSWER_ZERO, 0},
    {"dlopen", CALL_SYSTEM, ANSWER_NULL, 0},
    {"dlsym", CALL_SYSTEM, ANSWER_NULL, 0},
    {"eventfd", CALL_SYSTEM, ANSWER_MINUS_ONE, EMFILE},
    {"fcntl", CALL_SYSTEM, ANSWER_MINUS_ONE, EMFILE},
    {"fopen", CALL_SYSTEM, ANSWER_NULL, EMFILE},
    {"fread", CALL_SYSTEM, ANSWER_ZERO, EIO},
    {"fstat", CALL_SYSTEM, ANSWER_MINUS_ONE, EIO},
    {"ftruncate", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOSPC},
    {"getpeername", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOBUFS},
    {"getsockopt", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOBUFS},
    {"memfd_create", CALL_SYSTEM, ANSWER_MINUS_ONE, EMFILE},
    {"mmap", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOMEM},
    {"nanosleep", CALL_SYSTEM, ANSWER_MINUS_ONE, EINTR},
    {"opendir", CALL_SYSTEM, ANSWER_NULL, EMFILE},
    {"poll", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOMEM},
    {"pthread_cond_init", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"pthread_condattr_init", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"pthread_condattr_setclock", CALL_SYSTEM, ANSWER_ERRNO, EINVAL},
    {"pthread_create", CALL_SYSTEM, ANSWER_ERRNO, EAGAIN},
    {"pthread_mutex_init", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"read", CALL_SYSTEM, ANSWER_MINUS_ONE, EINTR},
    {"readdir", CALL_SYSTEM, ANSWER_NULL, EIO},
    {"readlink", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOENT},
    {"recv", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"recvmsg", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"send", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"sendmsg", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"uname", CALL_SYSTEM, ANSWER_MINUS_ONE, EFAULT},
    {"write", CALL_SYSTEM, ANSWER_MINUS_ONE, EINTR},
};

const struct balance balances[CALL_BALANCES] = {
    {"malloc", "free", 0},
    {"calloc", "free", 0},
    {"mmap", "munmap", 0},
    {"opendir", "closedir", 0},
    {"fopen", "fclose", 0},
    {"pthread_create", "pthread_join", 0},
    {"pthread_create", "pthread_detach", 0},
    {"pthread_mutex_init", "pthread_mutex_destroy", 0},
    {"pthread_cond_init", "pthread_cond_destroy", 0},
    {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease", NO_ARGUMENT},
    {"cuCtxPushCurrent", "cuCtxPopCurrent", NO_ARGUMENT},
    {"cuStreamCreate", "cuStreamDestroy", 0},
    {"cuEventCreate", "cuEventDestroy", 0},
    {"cuMemAlloc", "cuMemFree", 0},
    {"cuMemAllocManaged", "cuMemFree", 0},
    {"cuMemAllocHost", "cuMemFreeHost", 0},
    {"cuMemHostRegister", "cuMemHostUnregister", 0},
    {"cuMemCreate", "cuMemRelease", 0},
    {"cuMemImportFromShareableHandle", "cuMemRelease", 0},
    {"cuMemAddressReserve", "cuMemAddressFree", 0},
    {"cuMemMap", "cuMemUnmap", 0},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayDestroy", 0},
    {"cuExternalMemoryGetMappedMipmappedArray", "cuMipmappedArrayDestroy", 0},
    {"cuTexObjectCreate", "cuTexObjectDestroy", 0},
    {"cuSurfObjectCreate", "cuSurfObjectDestroy", 0},
    {"cuImportExternalMemory", "cuDestroyExternalMemory", 0},
    {"cuImportExternalSemaphore", "cuDestroyExternalSemaphore", 0},
    {"cuGraphicsGLRegisterBuffer", "cuGraphicsUnregisterResource", 0},
    {"cuGraphicsGLRegisterImage", "cuGraphicsUnregisterResource", 0},
    {"cuGraphicsMapResources", "cuGraphicsUnmapResources", NO_ARGUMENT},
    {"eglCreateContext", "eglDestroyContext", 1},
    {"eglCreatePbufferSurface", "eglDestroySurface", 1},
    {"glFenceSync", "glDeleteSync", 0},
    {"vkCreateBuffer", "vkDestroyBuffer", 1},
    {"vkCreateImage", "vkDestroyImage", 1},
    {"vkAllocateMemory", "vkFreeMemory", 1},
    {"vkCreateSemaphore", "vkDestroySemaphore", 1},
    {"vkCreateCommandPool", "vkDestroyCommandPool", 1},
    {"vkCreateDevice", "vkDestroyDevice", 0},
    {"vkCreateInstance", "vkDestroyInstance", 0},
    {"vkCreateDebugUtilsMessengerEXT", "vkDestroyDebugUtilsMessengerEXT", 1},
};

/*
 * These functions end something and then report an error: a driver function reports an error of
 * earlier work, and close() an error of the file.
 */
static const char *const ends[] = {"cuGraphicsUnregister",
                                   "cuMemFree",
                                   "cuMemRelease",
                                   "cuMemAddressFree",
                                   "cuMemUnmap",
                                   "cuMemHostUnregister",
                                   "cuEventDestroy",
                                   "cuStreamDestroy",
                                   "cuDestroyExternal",
                                   "cuMipmappedArrayDestroy",
                                   "cuTexObjectDestroy",
                                   "cuSurfObjectDestroy",
                                   "cuDevicePrimaryCtxRelease",
                                   "cuCtxPopCurrent",
                                   "cuModuleUnload",
                                   "close",
                                   "eglDestroy",
                                   "glDelete",
                                   "glEndConditional",
                                   "glUnmapBuffer"};

/* Functions that cannot fail, or whose failure the caller cannot see. */
static const char *const never_fails[] = {"eglGetCurrent", "eglGetError",   "eglGetProcAddress",
                                          "eglQueryAPI",   "glFinish",      "glFlush",
                                          "glGetError",    "glIs",          "glHint",
                                          "glPixel",       "vkCmd",         "vkDestroy",
                                          "vkFree",        "vkGetBuffer",   "vkGetDevice",
                                          "vkGetImage",    "vkGetPhysical", "cuGetErrorString"};
/* These functions can fail, although other functions with the same prefix cannot. */
static const char *const can_fail[] = {"vkGetPhysicalDeviceImageFormatProperties2"};

static bool begins(const char *name, const char *const list[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}
#define BEGINS(name, list) begins(name, list, sizeof(list) / sizeof(*(list)))

const struct system_function *system_function_of(const char *name)
{
    for (size_t i = 0; i < sizeof(system_functions) / sizeof(*system_functions); i++)
        if (strcmp(system_functions[i].name, name) == 0)
            return &system_functions[i];
    return NULL;
}

enum call_kind kind_of(const char *name)
{
    if (strncmp(name, "cu", 2) == 0 || strncmp(name, "gr_softcuda", 11) == 0)
        return CALL_CUDA;
    if (strncmp(name, "egl", 3) == 0)
        return CALL_EGL;
    if (strncmp(name, "gl", 2) == 0)
        return CALL_GL;
    return strncmp(name, "vk", 2) == 0 ? CALL_VULKAN : CALL_OTHER;
}

bool can_it_fail(const char *name, enum call_kind kind)
{
    return kind != CALL_OTHER && (BEGINS(name, can_fail) || !BEGINS(name, never_fails));
}

bool ends_something(const char *name)
{
    return BEGINS(name, ends);
}

bool fails_when_lost_only(const char *name)
{
    static const char *const lost_only[] = {"glGet", "glBind", "glActiveTexture"};
    return BEGINS(name, lost_only);
}
