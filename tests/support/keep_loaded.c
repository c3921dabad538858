/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Preloaded under AddressSanitizer so that no library is unloaded. The Vulkan loader unloads the
 * drivers. Without this file, memory that only the static variables of a driver point to would then
 * be reported as leaked, in a module without a name.
 */
#include <dlfcn.h>

__attribute__((visibility("default"))) int dlclose(void *library)
{
    (void)library;
    return 0;
}
