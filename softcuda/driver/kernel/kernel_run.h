/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs the blocks of a launch on the machine's cores. */
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
    size_t stack;    /* bytes per thread, from CU_LIMIT_STACK_SIZE */
    unsigned shared; /* bytes of dynamic shared memory */
} soft_grid;

/*
 * Runs all blocks on this thread and on idle threads of the pool, and returns after the last block.
 * CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES if there was no memory for a block, CUDA_ERROR_ASSERT if a
 * block was stopped. (kernel_run.c)
 */
CUresult soft_grid_run(const soft_grid *grid);

/*
 * Stop the grid that runs on this thread; no further blocks start. soft_fibre_stop() ends the
 * current fibre, and returns if there is none. soft_block_stop() unwinds the thread's own stack to
 * where soft_grid_run() began the block. (fibre.c, kernel_run.c)
 */
void soft_fibre_stop(void);
_Noreturn void soft_block_stop(void);

/*
 * The dynamic shared memory of this thread, which each block reuses. It ends at a guard, by which
 * the fault handler recognises an overflow. NULL if out of memory. (shared_memory.c)
 */
void *soft_shared_get(size_t size);

/*
 * Runs one block of a grid whose threads synchronise, and sets the block's synchronisation
 * functions. If there is no memory for the stacks of the threads, runs nothing and returns false.
 * (fibre_block.c)
 */
bool soft_fibres_run(const soft_grid *grid, gr_cuhost_block *block);

#endif
