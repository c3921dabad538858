/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that nvcc refuses: of the program's functions for the host, in what runs on the device.
 * They are found by names, which are sure in one direction only: what may be something else is let
 * pass.
 */
#ifndef GR_SOFTCUDA_NVCC_HOST_CALLS_H
#define GR_SOFTCUDA_NVCC_HOST_CALLS_H

#include "softcuda/nvcc/declarations.h"

/* Ends the program after an error for each such call. Where __CUDA_ARCH__, which is not defined
 * here, may decide what the function is, a warning is printed instead. */
void refuse_host_calls(const source *s, const declarations *found);

#endif
