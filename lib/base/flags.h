/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Register flags: names and checks. */
#ifndef GR_LIB_BASE_FLAGS_H
#define GR_LIB_BASE_FLAGS_H

#include <grinterop/gr.h>

/* The flags of buffers and of images. */
#define GR_BUFFER_FLAGS (GR_READ_ONLY | GR_WRITE_DISCARD)
#define GR_IMAGE_FLAGS  (GR_BUFFER_FLAGS | GR_SURFACE_LOAD_STORE | GR_TEXTURE_GATHER)

/* Writes the names of the set bits, joined with '|'; "read_write" for 0. */
void gr_flags_format(unsigned flags, char *text, size_t size);

/* Refuses unknown bits, image flags of a buffer, and read_only together with write_discard. */
gr_status gr_flags_check(unsigned flags, bool is_image);

#endif
