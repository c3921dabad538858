/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA header of this name, with the functions that it provides for any host compiler. */
#pragma GCC system_header

#pragma push_macro("__CUDACC__")
#pragma push_macro("__noinline__")
#undef __CUDACC__
#undef __noinline__
#include_next <cuda_fp8.h>
#pragma pop_macro("__noinline__")
#pragma pop_macro("__CUDACC__")
