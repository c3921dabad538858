/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table through which programs with compat.h call the library, so that one exported symbol is
 * enough.
 */
#include "gl/compat/compat.h"

const gr_compat_api *gr_compat(void)
{
    static const gr_compat_api table = {
        .register_buffer = compat_register_buffer,
        .register_image = compat_register_image,
        .unregister = compat_unregister,
        .set_map_flags = compat_set_map_flags,
        .pointer = compat_pointer,
        .array = compat_array,
        .mipmapped_array = compat_mipmapped_array,
        .import_memory = compat_import_memory,
        .import_semaphore = compat_import_semaphore,
        .map = compat_map,
        .unmap = compat_unmap,
        .explain_memory = compat_explain_memory,
        .explain_semaphore = compat_explain_semaphore,
        .has_context = compat_has_context,
        .keep_error = compat_keep_error,
        .kept_error = compat_kept_error,
        .explain_runtime = compat_explain_runtime,
    };
    return &table;
}
