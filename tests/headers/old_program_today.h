/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sizes of structs in the current headers, for old_program.c, which is compiled with older headers.
 */
#ifndef GR_TESTS_OLD_PROGRAM_TODAY_H
#define GR_TESTS_OLD_PROGRAM_TODAY_H

#include <stddef.h>

size_t today_size_of_map_options(void);
size_t today_size_of_semaphore_point(void);
size_t today_size_of_egl_options(void);
size_t today_size_of_slot(void);
size_t today_size_of_cuda_table(void);

#endif
