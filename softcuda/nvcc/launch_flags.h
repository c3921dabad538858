/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler driver knows of a kernel, and tells include/grinterop_nvcc_threads.hpp. */
#ifndef GR_SOFTCUDA_NVCC_LAUNCH_FLAGS_H
#define GR_SOFTCUDA_NVCC_LAUNCH_FLAGS_H

#define LAUNCH_SYNC   1u  /* it may meet a barrier */
#define LAUNCH_PLACE  2u  /* others than its body ask for threadIdx and the like */
#define LAUNCH_GIVEN  4u  /* its body is given them as parameters */
#define LAUNCH_GUARD  8u  /* and an object that decides whether a thread has something to do */
#define LAUNCH_LINE   16u /* it asks for its place in x by one number, and in no order (line.h) */
#define LAUNCH_SPAN   32u /* the threads of a row that have something to do are neighbours */
#define LAUNCH_STRIDE 64u /* a thread does what further ones would do (stride.h) */

#endif
