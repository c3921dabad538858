/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Plans the conversion from one picture to the other, by a copy or by a kernel. These functions
 * call no driver.
 */
#ifndef GR_LIB_PUBLISH_CHOOSE_KERNEL_H
#define GR_LIB_PUBLISH_CHOOSE_KERNEL_H

#include "lib/publish/picture.h"

/* The kernels that convert come first, in the order of enum gr_job_element. */
enum gr_kernel {
    GR_KERNEL_CONVERT = 0,
    GR_KERNEL_MOVE_1 = GR_JOB_D24 + 1,
    GR_KERNEL_MOVE_2,
    GR_KERNEL_MOVE_4,
    GR_KERNEL_YUV_U8,
    GR_KERNEL_YUV_U16,
    GR_KERNELS
};

struct gr_plan {
    bool copies; /* both sides have the same layout, so a copy without a kernel is enough */
    enum gr_kernel kernel;
    /* the parameters of the kernel; complete, except for the place of a side in a CUDA array */
    struct gr_job job;
    uint64_t bytes; /* the number of bytes to write; 0: nothing to do */
};

/* A conversion of values to 1 / (value * scale + bias), such as depth to distance. */
struct gr_inverse {
    float scale, bias;
};

/*
 * Plans the conversion from one picture in memory to the other; `fetch` says which of them is the
 * tensor. The options were copied by GR_TAKE, and the flip has been applied. `inverse` may be NULL;
 * otherwise it replaces the scale and bias of the options.
 */
gr_status gr_plan_make(const struct gr_picture *from, const struct gr_picture *to,
                       const gr_publish_options *options, const struct gr_inverse *inverse,
                       bool fetch, struct gr_plan *plan, const char *call);

/*
 * For a side of the plan that is in a CUDA array: sets what the kernel accesses, a surface of the
 * array, or linear memory instead of the array.
 */
void gr_plan_use_surface(struct gr_job_side *side, CUsurfObject surface, enum gr_job_place place,
                         unsigned layer);
void gr_plan_use_memory(struct gr_job_side *side, CUdeviceptr memory, size_t pitch, size_t slice);

/*
 * Plans the conversion of `count` depths between floats and integers of 2 or 4 bytes as OpenGL
 * transfers them; the latter have 24 significant bits. Depths that do not change keep their bits.
 */
void gr_plan_depth(struct gr_plan *plan, CUdeviceptr integers, unsigned bytes, CUdeviceptr floats,
                   size_t count, bool to_floats);

#endif
