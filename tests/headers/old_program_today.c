/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Compiled with the current headers; see old_program_today.h. */
#include "old_program_today.h"

#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/ring.h>

size_t today_size_of_map_options(void)
{
    return sizeof(gr_map_options);
}

size_t today_size_of_semaphore_point(void)
{
    return sizeof(gr_semaphore_point);
}

size_t today_size_of_egl_options(void)
{
    return sizeof(gr_egl_options);
}

size_t today_size_of_slot(void)
{
    return sizeof(gr_slot);
}

size_t today_size_of_cuda_table(void)
{
    return sizeof(gr_cuda_api);
}
