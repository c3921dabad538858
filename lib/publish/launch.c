/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executes a plan: fills in the arguments of the driver's copy and launch calls. */
#include "lib/publish/publish.h"

#include <stdatomic.h>

#include "lib/cuda/copy_3d.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/kernel_module.h"

/* ---- Copies ---------------------------------------------------------------------------------- */

static size_t row_bytes(const struct gr_picture *p)
{
    const size_t pixel = p->channels * gr_dtype_size(p->dtype);
    return (size_t)p->width * (p->packed ? (size_t)p->pixel : pixel);
}

static struct gr_copy_side side_of(const struct gr_picture *p, const CUmemorytype *types)
{
    if (p->in_array) {
        struct gr_copy_side side = gr_copy_array((CUarray)(uintptr_t)p->base, p->array_slice);
        side.x = (size_t)(p->x * p->pixel);
        side.y = (size_t)p->y;
        return side;
    }
    const size_t pitch = p->height > 1 ? (size_t)p->row : row_bytes(p);
    const size_t rows = p->depth > 1 ? (size_t)p->slice / pitch : (size_t)p->height;
    return (struct gr_copy_side){
        .type = types[p->memory], .at = (CUdeviceptr)p->base, .pitch = pitch, .rows = rows};
}

gr_status gr_launch_copy(const struct gr_picture *from, const struct gr_picture *to,
                         CUstream stream)
{
    const CUmemorytype *types = gr_driver_traits()->copy_types;
    const CUDA_MEMCPY3D copy = gr_copy_3d(side_of(to, types), side_of(from, types), row_bytes(to),
                                          (size_t)to->height, (size_t)to->depth);
    GR_TRY_WORK(gr_driver()->Memcpy3DAsync(&copy, stream), "cuMemcpy3DAsync",
                "%s: %s, and %s: the driver rejected the copy.", gr_call, GR_PHRASE(from),
                GR_PHRASE(to));
    return GR_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const char *name_of(enum gr_kernel kernel)
{
    static const char *const names[GR_KERNELS] = {[GR_KERNEL_MOVE_1] = "gr_move_1",
                                                  [GR_KERNEL_MOVE_2] = "gr_move_2",
                                                  [GR_KERNEL_MOVE_4] = "gr_move_4",
                                                  [GR_KERNEL_YUV_U8] = "gr_yuv_u8",
                                                  [GR_KERNEL_YUV_U16] = "gr_yuv_u16",
                                                  [GR_KERNEL_TO_YUV_1] = "gr_to_yuv_1",
                                                  [GR_KERNEL_TO_YUV_2] = "gr_to_yuv_2",
                                                  [GR_KERNEL_TO_YUV_4] = "gr_to_yuv_4",
                                                  [GR_KERNEL_MOVE_8] = "gr_move_8",
                                                  [GR_KERNEL_WIDE] = "gr_convert_wide",
                                                  [GR_KERNEL_CONVERT + GR_JOB_D24] =
                                                      "gr_convert_d24",
#define NAME(constant, kernel, size, name, typestr, code)                                          \
    [GR_KERNEL_CONVERT + GR_JOB_##constant] = "gr_convert_" #kernel,
                                                  GR_COMMON_TYPES(NAME)
#undef NAME
    };
    return names[kernel];
}

/*
 * Finds a kernel. Kernels that are loaded for all contexts are looked up once. Acquire and release
 * make the loaded kernel visible to other threads.
 */
static gr_status find_kernel(enum gr_kernel which, CUmodule *module, CUfunction *kernel)
{
    static _Atomic(CUfunction) known[GR_KERNELS];
    *kernel = atomic_load_explicit(&known[which], memory_order_acquire);
    if (*kernel)
        return GR_OK;
    gr_status status = gr_kernel_find(name_of(which), module, kernel);
    if (status == GR_OK && !*module)
        atomic_store_explicit(&known[which], *kernel, memory_order_release);
    return status;
}

gr_status gr_launch_prepare(const struct gr_plan *plan, CUmodule *module)
{
    CUfunction kernel;
    return find_kernel(plan->kernel, module, &kernel);
}

#define MOST_BLOCKS 65535u

static unsigned blocks(unsigned all, unsigned each)
{
    return all / each + (all % each > 0);
}

gr_status gr_launch_kernel(const struct gr_plan *plan, CUmodule *module, CUstream stream)
{
    const struct gr_job *job = &plan->job;
    CUfunction kernel;
    GR_TRY(find_kernel(plan->kernel, module, &kernel));
    /* A single row uses all threads of a block. */
    const unsigned lines = blocks(job->height, 1u << job->row_shift);
    const unsigned high = lines == 1 ? 1 : GR_JOB_BLOCK_HEIGHT;
    const unsigned wide = GR_JOB_BLOCK_WIDTH * GR_JOB_BLOCK_HEIGHT / high;
    const unsigned rows = blocks(lines, high);
    struct gr_job copy = *job;
    void *parameters[] = {&copy};
    CUresult result =
        gr_driver()->LaunchKernel(kernel, blocks(blocks(job->width, GR_JOB_PIXELS), wide),
                                  rows < MOST_BLOCKS ? rows : MOST_BLOCKS, job->depth, wide, high,
                                  1, 0, stream, parameters, NULL);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return gr_fail_cuda(result, "cuLaunchKernel",
                            "%s: grinterop's kernels were compiled by an nvcc that does not "
                            "support this GPU: build grinterop with a newer toolkit.",
                            gr_call);
    return gr_fail_work(result, "cuLaunchKernel", "%s: the kernel could not be launched.", gr_call);
}
