/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window, by GLFW, and the images that it shows, a swapchain. Without a display there is no
 * window: then nothing here does anything.
 */
#ifndef RIPPLES_WINDOW_H
#define RIPPLES_WINDOW_H

#include <vector>

#include <vulkan/vulkan.h>

/* Before the instance, which has to have these extensions. False: there is no display. */
bool openWindow(int side, const char *title);
std::vector<const char *> instanceExtensions();

/* Before the device, which has to have these; whether it can show what that family draws. */
std::vector<const char *> deviceExtensions();
bool canPresent(uint32_t family);

/* After the device. */
void createSwapchain();

bool windowIsOpen();
float secondsOpen();

/* The next image is to be drawn to, as soon as `taken` is signalled. */
void takeImage(VkSemaphore taken);

/* Copies what was drawn, which is in TRANSFER_SRC_OPTIMAL, into it. */
void copyToWindow(VkCommandBuffer commands, VkImage drawn, int side);

/* What the submit of these commands waits for and signals: of both one, or none. */
std::vector<VkSemaphoreSubmitInfo> waitsOf(VkSemaphore taken);
std::vector<VkSemaphoreSubmitInfo> signalsOfImage();

/* After that submit. */
void showImage();

#endif
