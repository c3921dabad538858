/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions of the table in kinds.c: kinds_gl.c has those of OpenGL, kinds_vulkan.c the rest.
 */
#ifndef GR_TESTS_KINDS_PARTS_H
#define GR_TESTS_KINDS_PARTS_H

#include "kinds.h"

/* ---- OpenGL ---------------------------------------------------------------------------------- */

void gl_buffer_write(struct thing *thing, const unsigned char *bytes);
void gl_buffer_read(struct thing *thing, unsigned char *bytes);
void gl_image_write(struct thing *thing, const unsigned char *bytes);
void gl_image_read(struct thing *thing, unsigned char *bytes);
void gl_delay(unsigned ms);

const char *interop_missing(unsigned flags);
const char *copy_missing(unsigned flags);
const char *pinned_missing(unsigned flags);
const char *staging_missing(unsigned flags);
const char *flight_missing(unsigned flags);
const char *timelines_missing(unsigned flags);
const char *binaries_missing(unsigned flags);
const char *host_waits_missing(unsigned flags);
const char *tensor_missing(unsigned flags);

/* An object of the application; CUDA refuses to register its mapping; an object of grinterop. */
void make_registered(struct thing *thing);
void make_pinned(struct thing *thing);
void make_shared(struct thing *thing);
void make_of_tensor(struct thing *thing);
void end_gl(struct thing *thing);

/* After each case. */
void gl_kinds_end(void);

/* ---- Vulkan, and memory without a graphics API ----------------------------------------------- */

void vk_write(struct thing *thing, const unsigned char *bytes);
void vk_buffer_read(struct thing *thing, unsigned char *bytes);
void vk_image_read(struct thing *thing, unsigned char *bytes);

/* For memory of Vulkan whose resource Vulkan cannot submit: the host waits. */
void vk_memory_write(struct thing *thing, const unsigned char *bytes);
void vk_memory_read(struct thing *thing, unsigned char *bytes);
void vk_delay(unsigned ms);

const char *vk_buffer_missing(unsigned flags);
const char *vk_import_missing(unsigned flags);
const char *vk_flight_missing(unsigned flags);

/* Of objects of the application, in memory that can be exported or not; and of grinterop. */
void make_imported(struct thing *thing);
void make_copied(struct thing *thing);
void make_created(struct thing *thing);
void make_external(struct thing *thing);
void make_received(struct thing *thing);
void end_vk(struct thing *thing);

#endif
