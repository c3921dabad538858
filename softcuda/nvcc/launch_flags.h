/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the compiler driver knows of a kernel, for include/grinterop_nvcc_threads.hpp. */
#ifndef GR_SOFTCUDA_NVCC_LAUNCH_FLAGS_H
#define GR_SOFTCUDA_NVCC_LAUNCH_FLAGS_H

#define LAUNCH_SYNC   1u  /* may meet a barrier */
#define LAUNCH_PLACE  2u  /* code outside its body uses threadIdx and the like */
#define LAUNCH_GIVEN  4u  /* its body receives these as parameters */
#define LAUNCH_GUARD  8u  /* its body receives a guard, which decides whether a thread has work */
#define LAUNCH_LINE   16u /* uses x only in the index of line.h, in any order of threads */
#define LAUNCH_SPAN   32u /* the threads of a row that have work are neighbours */
#define LAUNCH_STRIDE 64u /* a thread does the work of further threads (stride.h) */

#endif
