/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Register flags: names and checks. */
#ifndef GR_LIB_BASE_FLAGS_H
#define GR_LIB_BASE_FLAGS_H

#include <grinterop/gr.h>

/* Writes the names of the set bits, joined with '|'; "read_write" for 0. */
void gr_flags_format(unsigned flags, char *text, size_t size);

/* Refuses unknown bits, bits outside `allowed`, and read_only together with write_discard. */
gr_status gr_flags_check(unsigned flags, unsigned allowed, const char *call);

#endif
