/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA devices in the words of messages. */
#ifndef GR_LIB_DEVICE_TEXT_H
#define GR_LIB_DEVICE_TEXT_H

#include <stddef.h>

#include <grinterop/cuda.h>

/* One line about a CUDA device, "NVIDIA H200 (CUDA device 0, UUID GPU-...)", for messages. */
void gr_device_text(CUdevice device, char *text, size_t size);

/* A device UUID in the form that nvidia-smi prints. `text` holds at least 41 characters. */
#define GR_UUID_TEXT_SIZE 41
void gr_uuid_text(const unsigned char uuid[16], char *text);

#endif
