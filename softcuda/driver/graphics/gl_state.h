/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Saves and restores the application's OpenGL state that affects pixel transfers, around those of
 * the driver.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_STATE_H
#define GR_SOFTCUDA_DRIVER_GL_STATE_H

#include <stdbool.h>

#define SOFT_GL_STORE_PARAMETERS    16
#define SOFT_GL_TRANSFER_PARAMETERS 12

typedef struct {
    int store[SOFT_GL_STORE_PARAMETERS];
    int pack_buffer;
    int unpack_buffer;
    bool has_transfer; /* a compatibility context, which can also modify pixels in transfer */
    float transfer[SOFT_GL_TRANSFER_PARAMETERS];
    bool has_invert;
    int invert;
    int unit;
    unsigned spare_unit; /* the active one meanwhile, counted from 0 */
} soft_gl_state;

/*
 * Afterwards rows are contiguous, in process memory and unmodified, and a texture unit is active
 * that applications hardly use.
 */
void soft_gl_state_set(soft_gl_state *before);
void soft_gl_state_restore(const soft_gl_state *before);

#endif
