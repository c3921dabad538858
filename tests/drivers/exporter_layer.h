/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer of Vulkan for tests: semaphores that can be exported, on a driver that has none, as
 * Mesa's on the CPU. What is exported is a semaphore of the software CUDA driver; a thread carries
 * the values from the one to the other. run-test has it loaded where GR_TEST_EXPORTS is set, below
 * the validation layer, which then sees what a GPU's driver would show it.
 *
 * Below, a semaphore of either kind is a timeline. So a program's older instance is Vulkan 1.2
 * there, and its device has timelines, asked for or not: programs of others are run by it, too.
 */
#ifndef GR_TESTS_EXPORTER_LAYER_H
#define GR_TESTS_EXPORTER_LAYER_H

#include <stdbool.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORTER_NAME "VK_LAYER_GR_exporter"

/* X(name): what the layer calls of a device below it. */
#define EXPORTER_DEVICE_FUNCTIONS(X)                                                               \
    X(CreateSemaphore)                                                                             \
    X(DestroyDevice)                                                                               \
    X(DestroySemaphore)                                                                            \
    X(GetSemaphoreCounterValue)                                                                    \
    X(QueueSubmit)                                                                                 \
    X(QueueSubmit2KHR)                                                                             \
    X(SignalSemaphore)

#define EXPORTER_MEMBER(name) PFN_vk##name name;

struct exporter_device {
    void *key; /* of the device and its queues, as the loader marks them; NULL: a free place */
    VkDevice device;
    bool exports; /* VK_KHR_external_semaphore_fd is enabled */
    PFN_vkGetDeviceProcAddr next;
    EXPORTER_DEVICE_FUNCTIONS(EXPORTER_MEMBER)
};

/* The device of a VkDevice or a VkQueue. */
struct exporter_device *exporter_device_of(const void *handle);

/* ---- exporter_semaphore.c -------------------------------------------------------------------- */

VkResult VKAPI_CALL exporter_create(VkDevice device, const VkSemaphoreCreateInfo *info,
                                    const VkAllocationCallbacks *memory, VkSemaphore *made);
void VKAPI_CALL exporter_destroy(VkDevice device, VkSemaphore semaphore,
                                 const VkAllocationCallbacks *memory);
VkResult VKAPI_CALL exporter_get_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *fd);
VkResult VKAPI_CALL exporter_counter(VkDevice device, VkSemaphore semaphore, uint64_t *value);

/*
 * The value that stands for the next signal, or wait, of a binary semaphore, which is a timeline
 * below the layer. False: it is none of the layer's.
 */
bool exporter_next_value(VkSemaphore semaphore, bool is_signal, uint64_t *value);

/* ---- exporter_submit.c ----------------------------------------------------------------------- */

VkResult VKAPI_CALL exporter_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits,
                                    VkFence fence);
VkResult VKAPI_CALL exporter_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *submits,
                                     VkFence fence);

#endif
