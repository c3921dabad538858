/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The steps of a publish or a fetch: describe both sides, each as a picture, plan the conversion
 * from one to the other, and execute the plan.
 */
#ifndef GR_LIB_PUBLISH_PUBLISH_H
#define GR_LIB_PUBLISH_PUBLISH_H

#include <grinterop/publish.h>

#include "lib/base/cuda_abi.h"
#include "lib/publish/job.h"
#include "lib/resource/resource_types.h"
#include "lib/resource/map.h"
#include "lib/tensor/tensor.h"

/* ---- Pictures: picture.c --------------------------------------------------------------------- */

#define GR_SHAPED_TEXT 256

/* Elements with a shape: a tensor, or a buffer as the options describe it. */
struct gr_shaped {
    const char *what; /* the noun for messages, such as "the tensor" */
    gr_dtype dtype;
    gr_layout layout;
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS];
    int64_t strides[GR_TENSOR_DIMS]; /* in bytes */
    uint64_t base;                   /* the address of element 0 */
    gr_memory memory;
};

struct gr_picture {
    gr_dtype dtype;
    bool is_number; /* integers are numbers, not fractions of the largest integer */
    bool is_image;  /* the picture is a part of an image or an attachment */
    bool in_array;  /* the picture is in a CUDA array and has no strides */
    bool is_yuv;    /* the picture has the planes `chroma` */
    uint8_t packed; /* 0, or GR_JOB_A2B10G10R10 and so on, whose channels are treated as `dtype` */
    gr_memory memory;
    uint64_t base;      /* the address, or the CUDA array */
    size_t array_slice; /* in the CUDA array: the first slice, pixel and row of the picture */
    int64_t x, y;
    int64_t width, height, depth;
    unsigned columns; /* of tiles, which are the slices of the other picture; 0: no tiles */
    unsigned channels;
    int64_t pixel, row, slice, channel; /* bytes to the next pixel, row, slice and channel */
    struct gr_job_chroma chroma;
    struct gr_shaped shaped; /* for messages */
};

/*
 * Writes a description, such as "the tensor is (3, 4) of uint8", and returns it. The macros do so
 * for a message; the text of GR_SENTENCE() begins with a capital letter.
 */
const char *gr_shaped_text(const struct gr_shaped *shaped, char text[GR_SHAPED_TEXT], bool capital);
#define GR_PHRASE(of)   gr_shaped_text(&(of)->shaped, (char[GR_SHAPED_TEXT]){0}, false)
#define GR_SENTENCE(of) gr_shaped_text(&(of)->shaped, (char[GR_SHAPED_TEXT]){0}, true)

/* What the slices of a picture are. */
enum gr_slices { GR_ONE_SLICE, GR_SLICES_OF_3D, GR_LAYERS };

/*
 * Interprets the shape as a picture. `u` and `v` are other planes of the picture: both, or `u` has
 * pairs and `v` is NULL, or both are NULL. Refuses all other shapes.
 */
gr_status gr_picture_read(const struct gr_shaped *shaped, const struct gr_shaped *u,
                          const struct gr_shaped *v, enum gr_slices slices,
                          struct gr_picture *picture);

/*
 * Makes two pictures of one channel from two tensors of equal shape, by joining dimensions. False
 * if too many dimensions for a picture are left.
 */
bool gr_pictures_of_elements(const struct gr_shaped *a, const struct gr_shaped *b,
                             struct gr_picture *of_a, struct gr_picture *of_b);

/* Flips the picture vertically. Refuses chroma planes whose rows would not match. */
gr_status gr_picture_flip(struct gr_picture *picture);

/* ---- The two sides: sides.c ------------------------------------------------------------------ */

struct gr_publish_sides {
    struct gr_picture tensor, mapped;
    bool is_known; /* false: only a map can show what the image is, and nothing is described */
    enum gr_slices slices;
    struct gr_region region; /* the part of an image */
    bool is_part;            /* the region is less than the level, or tiles are missing */
    unsigned arrays;         /* more than 1: each layer has one, and `mapped` that of the first */
};

/*
 * Describes both sides, but not where the mapped side is. The tensor was checked, and the options
 * were copied by GR_TAKE. `buffer` is the mapping of the resource, whose CUDA context is current;
 * NULL before the map. Refuses sides that do not match; the message has both shapes. Leaves
 * `is_number` to the caller if the resource is a buffer.
 */
gr_status gr_publish_describe(const gr_resource *resource, const gr_buffer *buffer,
                              const gr_tensor *tensor, const gr_publish_options *options,
                              struct gr_publish_sides *sides);

/* Makes the mapped side a picture of tiles. Refuses sizes that do not match. */
gr_status gr_publish_divide(const gr_publish_options *o, struct gr_publish_sides *sides);

/*
 * Sets the address of the mapped side, which is described with an address of 0, or its array. The
 * CUDA context is current.
 */
gr_status gr_publish_locate(const gr_buffer *buffer, struct gr_publish_sides *sides);

/* ---- Plans, which call no driver: plan.c ----------------------------------------------------- */

/* The kernels that convert common types come first, in the order of enum gr_job_element. */
enum gr_kernel {
    GR_KERNEL_CONVERT = 0,
    GR_KERNEL_WIDE = GR_JOB_D24 + 1,
    GR_KERNEL_MOVE_1,
    GR_KERNEL_MOVE_2,
    GR_KERNEL_MOVE_4,
    GR_KERNEL_MOVE_8,
    GR_KERNEL_YUV_U8,
    GR_KERNEL_YUV_U16,
    GR_KERNEL_TO_YUV_1,
    GR_KERNEL_TO_YUV_2,
    GR_KERNEL_TO_YUV_4,
    GR_KERNELS
};

struct gr_plan {
    bool copies; /* both sides have the same layout, so a copy without a kernel is enough */
    enum gr_kernel kernel;
    /* the parameters of the kernel; complete, except for the place of a side in a CUDA array */
    struct gr_job job;
    uint64_t bytes; /* the number of bytes to write; 0: nothing to do */
};

static inline bool gr_dtype_is_float(gr_dtype dtype)
{
    return dtype == GR_DTYPE_F16 || dtype == GR_DTYPE_BF16 || dtype == GR_DTYPE_F32 ||
           dtype == GR_DTYPE_F64;
}

/* Whether integers of this type are always numbers: those of 32 and 64 bits. */
static inline bool gr_dtype_is_number(gr_dtype dtype)
{
    return dtype == GR_DTYPE_I32 || dtype == GR_DTYPE_U32 || dtype == GR_DTYPE_I64 ||
           dtype == GR_DTYPE_U64;
}

/*
 * Plans the conversion from one picture in memory to the other; `fetch` says which of them is the
 * tensor. The options were copied by GR_TAKE, and the flip has been applied. `distance` may be
 * NULL; otherwise it comes before the scale and bias of the options.
 */
gr_status gr_plan_make(const struct gr_picture *from, const struct gr_picture *to,
                       const gr_publish_options *options, const struct gr_job_distance *distance,
                       bool fetch, struct gr_plan *plan);

/*
 * For a side of the plan that is in a CUDA array: sets what the kernel accesses, a surface of the
 * array, or linear memory instead of the array. `picture` is that side.
 */
void gr_plan_use_surface(struct gr_job_side *side, CUsurfObject surface, enum gr_job_place place,
                         unsigned layer, const struct gr_picture *picture);
void gr_plan_use_memory(struct gr_job_side *side, CUdeviceptr memory, size_t pitch, size_t slice);

/*
 * Plans the conversion of `count` depths between floats and integers of 2 or 4 bytes as OpenGL
 * transfers them; the latter have 24 significant bits. Depths that do not change keep their bits.
 */
void gr_plan_depth(struct gr_plan *plan, CUdeviceptr integers, unsigned bytes, CUdeviceptr floats,
                   size_t count, bool to_floats);

/* ---- Conversions from and to YUV: yuv_matrix.c ----------------------------------------------- */

/* Fills in the matrix, chroma and its samples. `yuv` is the side with planes of chroma. */
void gr_yuv_plan(struct gr_job *job, const struct gr_picture *yuv, bool to_yuv,
                 const gr_publish_options *o);

/* ---- Execution, in the current CUDA context: launch.c ---------------------------------------- */

/* Copies a picture to another with the same layout. Each may be in a CUDA array. */
gr_status gr_launch_copy(const struct gr_picture *from, const struct gr_picture *to,
                         CUstream stream);

/*
 * Loads the kernel of a plan, or records why there is none. `module` is passed to gr_kernel_find().
 */
gr_status gr_launch_prepare(const struct gr_plan *plan, CUmodule *module);

/* Launches the kernel of a plan. */
gr_status gr_launch_kernel(const struct gr_plan *plan, CUmodule *module, CUstream stream);

/* ---- Tensors that kernels cannot access: moved_tensor.c
 * ---------------------------------------------------
 */

/* Device memory for the elements of a tensor in host memory or in a CUDA array. */
struct gr_moved_tensor {
    gr_tensor *memory;      /* NULL: not needed */
    gr_tensor device;       /* describes the elements in device memory; not a live tensor */
    struct gr_runs runs;    /* how to copy them from and to host memory */
    const gr_tensor *array; /* the tensor if it is in an array, or NULL */
};

/*
 * If the tensor is in host memory or in an array: allocates device memory in stream order, and
 * replaces the tensor by a description of it. A publish also copies the elements there. `*tensor`
 * may be NULL. The CUDA context is current, and `moved` zero.
 */
gr_status gr_moved_tensor_begin(const gr_tensor **tensor, bool fetch, const struct gr_context *at,
                                CUstream stream, struct gr_moved_tensor *moved);

/* Copies the elements back. */
gr_status gr_moved_tensor_read_back(const struct gr_moved_tensor *moved, CUstream stream);

/* Frees the device memory in stream order. */
void gr_moved_tensor_end(struct gr_moved_tensor *moved);

/* ---- Attachments of framebuffers: publish.c -------------------------------------------------- */

/* The maximum number of tensors per call. */
#define GR_MOST_ATTACHMENTS 16

/* One tensor, and the attachment that it receives from the staging buffer. */
struct gr_attachment {
    gr_tensor *tensor;                      /* was checked */
    const gr_publish_options *options;      /* of GR_TAKE; `target` describes the data */
    bool numbers;                           /* integers are numbers, not fractions */
    const struct gr_job_distance *distance; /* NULL: the values are used as they are */
};

/*
 * Like gr_fetch() for each of the tensors, with one map: `use` is the checked use of the staging
 * buffer, whose CUDA context is current. fill() writes the data, after the checks.
 */
gr_status gr_fetch_attachments(const struct gr_use *use, const struct gr_attachment attachments[],
                               size_t n, gr_status (*fill)(void *of), void *of);

#endif
