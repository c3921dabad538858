/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* File descriptors of memory and semaphores. */
#include "vk/device/handle.h"

#include <unistd.h>

const void *const vk_memory_rights = NULL;
const void *const vk_semaphore_rights = NULL;

void vk_handle_close(vk_handle handle, bool imported)
{
    if (!imported)
        close(handle);
}
