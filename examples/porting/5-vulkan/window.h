/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The GLFW window and its swapchain. Without a display there is no window, and these functions do
 * nothing.
 */
#ifndef RIPPLES_WINDOW_H
#define RIPPLES_WINDOW_H

#include <vector>

#include <vulkan/vulkan.h>

/* Call before creating the instance, which needs these extensions. False if there is no display. */
bool openWindow(int side, const char *title);
std::vector<const char *> instanceExtensions();

/*
 * Call before creating the device, which needs these extensions. canPresent() says whether the
 * queue family can present.
 */
std::vector<const char *> deviceExtensions();
bool canPresent(uint32_t family);

/* Call after creating the device. */
void createSwapchain();

bool windowIsOpen();
float secondsOpen();

/* Acquires the next image, which may be drawn to once `taken` is signalled. */
void takeImage(VkSemaphore taken);

/* Copies `drawn`, with the layout TRANSFER_SRC_OPTIMAL, to the image. */
void copyToWindow(VkCommandBuffer commands, VkImage drawn, int side);

/* The semaphores that the submit must wait for and signal. Both are empty without a window. */
std::vector<VkSemaphoreSubmitInfo> waitsOf(VkSemaphore taken);
std::vector<VkSemaphoreSubmitInfo> signalsOfImage();

/* Call after the submit. */
void showImage();

#endif
