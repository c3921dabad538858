/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The UUID of the software CUDA driver's first device, where that is not Vulkan's: in a driver of
 * an older version, and in a process from which lavapipe is hidden. The other devices' differ from
 * it in the last byte.
 */
#ifndef GR_LIB_SOFTWARE_UUID_H
#define GR_LIB_SOFTWARE_UUID_H

#define GR_SOFTWARE_UUID "libgrinterop-sof"
/* Bytes that all of its devices have, unless Vulkan's is one's. */
#define GR_SOFTWARE_UUID_SAME 15

#endif
