/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan UUID of the drawing device. */
#ifndef GR_SOFTCUDA_DRIVER_DRAWING_UUID_H
#define GR_SOFTCUDA_DRIVER_DRAWING_UUID_H

#include <stdbool.h>

#define SOFT_UUID_SIZE 16

/* Queries Vulkan on the first call; false without lavapipe, or if it reports no UUID. */
bool soft_drawing_uuid(unsigned char uuid[SOFT_UUID_SIZE]);

#endif
