/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUDA arrays in place of an OpenGL image, for transports that copy. The texels pass through linear
 * memory that CUDA accesses and OpenGL moves to and from the image: each level has its place in it,
 * with the layers after each other, or it contains only the region that a mapping moves.
 */
#ifndef GR_GL_ARRAYS_ARRAYS_H
#define GR_GL_ARRAYS_ARRAYS_H

#include "lib/base/cuda_abi.h"
#include "lib/resource/image.h"
#include "gl/object/object.h"
#include "gl/texels/texels.h"

/*
 * The arrays of a resource: one mipmapped array per layer, as in an image registered by the interop
 * transport, so that programs need not distinguish the transports.
 */
struct gl_arrays {
    size_t size;                    /* of the linear memory, in bytes */
    size_t offsets[GR_MOST_LEVELS]; /* of the levels in it */
    CUdeviceptr depth;              /* for depth that CUDA converts: memory for its floats */
    /*
     * Converts `count` depths between integers in linear memory and the floats of the arrays, to
     * floats if `up`.
     */
    gr_status (*convert_depth)(const struct gl_resource *r, CUdeviceptr linear, size_t count,
                               bool up, CUstream stream);
    CUmipmappedArray whole; /* a copy of all layers, made at the first use */
    unsigned count;
    CUmipmappedArray layers[];
};

/*
 * Makes the arrays of an image, and loads the kernels for depth. Refuses an image that OpenGL
 * cannot copy. The CUDA context is current. After an error, which is recorded, nothing is left and
 * the result is NULL.
 */
struct gl_arrays *gl_arrays_make(struct gl_resource *r, unsigned flags);

/* Frees the arrays; without the CUDA context (`alive` is false) only the struct. May be NULL. */
void gl_arrays_end(struct gl_arrays *arrays, bool alive);

/* Creates the shader that copies the image, if one does, so that the first map need not. */
void gl_arrays_prepare(struct gl_resource *r);

/*
 * Linear memory: an offset in a buffer for OpenGL, or `buffer` is 0, and OpenGL uses the address
 * `cuda`, which is in host memory. Addresses are unified: CUDA and the host have the same ones.
 */
struct gl_place {
    unsigned int buffer;
    bool of_cuda; /* the buffer is in memory of CUDA */
    size_t offset;
    CUdeviceptr cuda;
};

/*
 * Moves all levels and layers, or the region of the mapping, between OpenGL and linear memory, to
 * the memory if `read`. `names` may get a texture, by which renderbuffers are moved, and for a
 * buffer in memory of CUDA a buffer of one word.
 */
void gl_arrays_move(const struct gl_resource *r, struct gl_place place, struct gl_names *names,
                    bool read);

/* After an OpenGL error, which may be of the scratch texture of a renderbuffer. */
void gl_arrays_drop_scratch(const struct gl_resource *r, struct gl_names *names);

/* Copies between linear memory and the arrays, to the arrays if `up`, in the stream. */
gr_status gl_arrays_stream(const struct gl_resource *r, struct gl_place place, bool up,
                           CUstream stream);

/* Allocates device memory for the copies of an object. */
gr_status gl_arrays_memory(CUdeviceptr *memory, size_t size, const struct gl_resource *r);

/* Operations of struct gr_backend. */
gr_status gl_arrays_array(const gr_resource *resource, unsigned level, unsigned layer,
                          CUarray *array);
gr_status gl_arrays_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array);

/* ---- Depth: depth.c -------------------------------------------------------------------------- */

/*
 * Depth is converted by the kernels of the library. Only the functions that accept depth call
 * gl_depth_enable(), so that static programs without them need no kernels. Call it before an image
 * of depth is registered.
 */
void gl_depth_enable(void);

/* Finds the kernel for the depth of this image, and sets arrays->convert_depth. */
gr_status gl_depth_prepare(struct gl_resource *r, struct gl_arrays *arrays);

#endif
