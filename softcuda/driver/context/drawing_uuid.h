/* SPDX-License-Identifier: Apache-2.0 */
/* The UUID by which Vulkan knows the device that draws here. */
#ifndef GR_SOFTCUDA_DRIVER_DRAWING_UUID_H
#define GR_SOFTCUDA_DRIVER_DRAWING_UUID_H

#include <stdbool.h>

#define SOFT_UUID_SIZE 16

/* Asks Vulkan, the first time; false if there is no lavapipe, or it gives no UUID. */
bool soft_drawing_uuid(unsigned char uuid[SOFT_UUID_SIZE]);

#endif
