/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The swapchain of a window, which shows a picture that Vulkan has drawn offscreen. */
#ifndef VIEWER_SWAPCHAIN_H
#define VIEWER_SWAPCHAIN_H

#include "viewer_device.h"
#include "examples/support/vulkan_target.h"

enum { VIEWER_MOST_IMAGES = 8 };

#define VIEWER_SWAPCHAIN_FUNCTIONS(X)                                                              \
    X(AcquireNextImageKHR)                                                                         \
    X(CreateSemaphore)                                                                             \
    X(CreateSwapchainKHR)                                                                          \
    X(DestroySemaphore)                                                                            \
    X(DestroySwapchainKHR)                                                                         \
    X(GetPhysicalDeviceSurfaceCapabilitiesKHR)                                                     \
    X(GetPhysicalDeviceSurfaceFormatsKHR)                                                          \
    X(GetPhysicalDeviceSurfacePresentModesKHR)                                                     \
    X(GetSwapchainImagesKHR)                                                                       \
    X(QueuePresentKHR)                                                                             \
    X(QueueWaitIdle)

struct viewer_swapchain {
    const struct viewer_device *device;
    const struct vulkan *vulkan;
    VkSwapchainKHR chain;
    VkExtent2D extent;
    /* whether presenting a frame does not wait for the screen, so a clock must pace the frames */
    bool by_clock;
    VkImage images[VIEWER_MOST_IMAGES];
    VkSemaphore drawn[VIEWER_MOST_IMAGES]; /* drawn[i] is signalled when image i may be presented */
    VkSemaphore taken;                     /* signalled when the next image may be drawn to */
    uint32_t count, next;
#define VIEWER_MEMBER(name) PFN_vk##name name;
    VIEWER_SWAPCHAIN_FUNCTIONS(VIEWER_MEMBER)
#undef VIEWER_MEMBER
};

/* False after an error, which has been printed. viewer_swapchain_free() cleans up in any case. */
bool viewer_swapchain_init(struct viewer_swapchain *swapchain, const struct viewer_device *device,
                           const struct vulkan *vulkan, bool by_clock);
void viewer_swapchain_free(struct viewer_swapchain *swapchain);

/*
 * Acquires the next image for a window of that size, and recreates all images if the size has
 * changed. VIEWER_SHOWN: the image is ready to be drawn to and presented.
 */
enum viewer_drawn viewer_swapchain_acquire(struct viewer_swapchain *swapchain, int width,
                                           int height);

/* Records the copy of the target to the image. */
void viewer_swapchain_record(const struct viewer_swapchain *swapchain,
                             const struct vulkan_target *target, VkCommandBuffer commands);

/* Presents the image after the submit that signals drawn[next]. */
bool viewer_swapchain_present(struct viewer_swapchain *swapchain);

#endif
