/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The UUID that Vulkan reports for the drawing device. */
#ifndef GR_SOFTCUDA_DRIVER_DRAWING_UUID_H
#define GR_SOFTCUDA_DRIVER_DRAWING_UUID_H

#include <stdbool.h>

#define SOFT_UUID_SIZE 16

/* The first call queries Vulkan. False if there is no lavapipe, or if lavapipe reports no UUID. */
bool soft_drawing_uuid(unsigned char uuid[SOFT_UUID_SIZE]);

#endif
