/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Properties of a kernel that grinterop-nvcc finds, for include/grinterop_nvcc_threads.hpp. */
#ifndef GR_SOFTCUDA_NVCC_LAUNCH_FLAGS_H
#define GR_SOFTCUDA_NVCC_LAUNCH_FLAGS_H

#define LAUNCH_SYNC  1u /* the kernel may reach a barrier */
#define LAUNCH_PLACE 2u /* functions that the kernel calls use threadIdx and the like */
#define LAUNCH_GIVEN 4u /* the kernel's body receives threadIdx and the like as parameters */
/* The kernel's body receives a guard object, which decides whether a thread has work. */
#define LAUNCH_GUARD 8u
/* The kernel uses x only in the index (line.h), and its threads may run in any order. */
#define LAUNCH_LINE   16u
#define LAUNCH_SPAN   32u /* the threads of a row that have work are neighbours (span.h) */
#define LAUNCH_STRIDE 64u /* each thread also does the work of further threads (stride.h) */

#endif
