/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The application's OpenGL state that affects pixel transfers: saved before the driver transfers
 * pixels, and restored afterwards.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_STATE_H
#define GR_SOFTCUDA_DRIVER_GL_STATE_H

#include <stdbool.h>

#define SOFT_GL_STORE_PARAMETERS    16
#define SOFT_GL_TRANSFER_PARAMETERS 12

typedef struct {
    bool es; /* OpenGL ES, which has fewer parameters */
    int store[SOFT_GL_STORE_PARAMETERS];
    unsigned pack_buffer;
    unsigned unpack_buffer;
    /* A compatibility context, whose pixel transfer state can also modify pixels. */
    bool has_transfer;
    float transfer[SOFT_GL_TRANSFER_PARAMETERS];
    bool has_invert;
    unsigned invert_name;
    int invert;
    int unit;
    unsigned spare_unit; /* the unit that is active during transfers, counted from 0 */
} soft_gl_state;

/*
 * Saves the state in *before and changes it for transfers: rows are contiguous and in process
 * memory, and pixels are not modified. The active texture unit becomes one that applications rarely
 * use.
 */
void soft_gl_state_set(soft_gl_state *before);
void soft_gl_state_restore(const soft_gl_state *before);

#endif
