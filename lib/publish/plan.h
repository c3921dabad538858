/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How one picture becomes another: by a copy, or by which kernel. It asks no driver. */
#ifndef GR_LIB_PUBLISH_PLAN_H
#define GR_LIB_PUBLISH_PLAN_H

#include "lib/publish/picture.h"

enum gr_kernel {
    GR_KERNEL_CONVERT_U8,
    GR_KERNEL_CONVERT_U16,
    GR_KERNEL_CONVERT_F16,
    GR_KERNEL_CONVERT_BF16,
    GR_KERNEL_CONVERT_F32,
    GR_KERNEL_MOVE_1,
    GR_KERNEL_MOVE_2,
    GR_KERNEL_MOVE_4,
    GR_KERNEL_YUV_U8,
    GR_KERNEL_YUV_U16,
    GR_KERNELS
};

struct gr_plan {
    bool copies; /* the bytes agree: a copy, and no kernel */
    enum gr_kernel kernel;
    struct gr_job job; /* of a side in an array all but the place is filled in */
    uint64_t bytes;    /* that are written; 0: there is nothing to do */
};

/*
 * Plans the way from one picture to the other. Both are as they lie in memory; `fetch` says which
 * of them is the tensor. The options were taken, and their flip has been done.
 */
gr_status gr_plan_make(const struct gr_picture *from, const struct gr_picture *to,
                       const gr_publish_options *options, bool fetch, struct gr_plan *plan,
                       const char *call);

/* Tells the plan's side, which is in an array, that it is a surface or linear memory instead. */
void gr_plan_use_surface(struct gr_job_side *side, CUsurfObject surface, enum gr_job_place place,
                         unsigned layer);
void gr_plan_use_memory(struct gr_job_side *side, CUdeviceptr memory, size_t pitch, size_t slice);

#endif
