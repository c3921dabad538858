/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A Vulkan layer that adds exportable semaphores to a driver that has none, such as the Mesa driver
 * for the CPU. The exported object is a semaphore of the software CUDA driver; a thread copies
 * values between it and the Vulkan semaphore. run-test loads the layer if GR_TEST_EXPORTS is set,
 * and test_speed.sh always. The validation layer lies above this layer, and so sees the same as
 * with the driver of a GPU.
 *
 * Below the layer both binary and timeline semaphores are timelines. The layer therefore creates an
 * instance of an older version as Vulkan 1.2, and enables timelines in its devices even if the
 * program did not: third-party programs also run on the layer.
 */
#ifndef GR_SOFTCUDA_EXPORTER_LAYER_H
#define GR_SOFTCUDA_EXPORTER_LAYER_H

#include <stdbool.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* X(name): functions that the layer calls on the device below it, with or without KHR. */
#define EXPORTER_DEVICE_FUNCTIONS(X)                                                               \
    X(CreateSemaphore)                                                                             \
    X(DestroyDevice)                                                                               \
    X(DestroySemaphore)                                                                            \
    X(GetSemaphoreCounterValue)                                                                    \
    X(QueueSubmit)                                                                                 \
    X(QueueSubmit2)                                                                                \
    X(SignalSemaphore)

#define EXPORTER_MEMBER(name) PFN_vk##name name;

struct exporter_device {
    void *key; /* what key_of() returns for the device and its queues; NULL: the entry is free */
    VkDevice device;
    bool exports; /* VK_KHR_external_semaphore_fd is enabled */
    PFN_vkGetDeviceProcAddr next;
    EXPORTER_DEVICE_FUNCTIONS(EXPORTER_MEMBER)
};

/* The device that a VkDevice or VkQueue belongs to. */
struct exporter_device *exporter_device_of(const void *handle);

/* ---- exporter_semaphore.c -------------------------------------------------------------------- */

VkResult VKAPI_CALL exporter_create(VkDevice device, const VkSemaphoreCreateInfo *info,
                                    const VkAllocationCallbacks *memory, VkSemaphore *made);
void VKAPI_CALL exporter_destroy(VkDevice device, VkSemaphore semaphore,
                                 const VkAllocationCallbacks *memory);
VkResult VKAPI_CALL exporter_get_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *fd);
VkResult VKAPI_CALL exporter_counter(VkDevice device, VkSemaphore semaphore, uint64_t *value);

/*
 * Stores the timeline value of the next signal or wait of a binary semaphore. Below the layer the
 * binary semaphore is a timeline. Returns false if the semaphore is not one of the layer.
 */
bool exporter_next_value(VkSemaphore semaphore, bool is_signal, uint64_t *value);

/* ---- exporter_submit.c ----------------------------------------------------------------------- */

VkResult VKAPI_CALL exporter_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits,
                                    VkFence fence);
VkResult VKAPI_CALL exporter_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *submits,
                                     VkFence fence);

#endif
