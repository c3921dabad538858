/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For old programs that include this header: grinterop_nvcc.h declares its functions. */
#pragma GCC system_header
