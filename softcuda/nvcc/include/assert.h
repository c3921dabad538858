/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * assert() in kernels. The header has no include guard, as in the C library: each inclusion checks
 * NDEBUG. Files without kernels only get the assert() of the C library.
 */
#pragma GCC system_header

#include_next <assert.h>

#if defined(GRINTEROP_NVCC_H) && defined(__cplusplus) && !defined(NDEBUG)
#undef assert
#define assert(...)                                                                                \
    (static_cast<bool>(__VA_ARGS__)                                                                \
         ? void(0)                                                                                 \
         : ::gr_cuhost::assert_failed(#__VA_ARGS__, __FILE__, __LINE__,                            \
                                      __extension__ __PRETTY_FUNCTION__, blockIdx, threadIdx))
#endif
