/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Preloaded under AddressSanitizer to keep libraries loaded. Otherwise the Vulkan loader unloads
 * drivers. Memory to which only static variables of a driver point would then be reported as a
 * leak, without the name of the module.
 */
#include <dlfcn.h>

__attribute__((visibility("default"))) int dlclose(void *library)
{
    (void)library;
    return 0;
}
