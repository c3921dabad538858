/* SPDX-License-Identifier: Apache-2.0 */
/* How the blocks of a launch get onto the machine's cores. */
#ifndef GR_SOFTCUDA_DRIVER_KERNEL_RUN_H
#define GR_SOFTCUDA_DRIVER_KERNEL_RUN_H

#include <cuda.h>
#include <grinterop/cuhost.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const gr_cuhost_kernel *kernel;
    unsigned grid[3];
    unsigned block[3];
    void *const *params;
    size_t stack;    /* bytes that a thread wants, as CU_LIMIT_STACK_SIZE says */
    unsigned shared; /* bytes of dynamic shared memory */
} soft_grid;

/*
 * Runs all blocks, on this thread and on those of the pool that have nothing else to do; returns
 * when the last one has ended: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES if a block could not be run for
 * want of memory, CUDA_ERROR_ASSERT if one was stopped. (kernel_run.c)
 */
CUresult soft_grid_run(const soft_grid *grid);

/*
 * Stop what this thread runs of a grid, which begins no further blocks: the first one if it is a
 * fibre, and returns otherwise; the second one on the thread's own stack, which is cut back to
 * where soft_grid_run() began the block. (fibre.c, kernel_run.c)
 */
void soft_fibre_stop(void);
_Noreturn void soft_block_stop(void);

/*
 * This thread's memory for the dynamic shared memory of one block after the other: it ends at a
 * guard, by which the fault handler knows it. NULL if there is none to be had. (shared_memory.c)
 */
void *soft_shared_get(size_t size);

/*
 * Runs one block of the grid, whose threads meet. What they meet by is set in the block here. False
 * without having run anything if there is no memory for the threads' stacks. (fibre_block.c)
 */
bool soft_fibres_run(const soft_grid *grid, gr_cuhost_block *block);

#endif
