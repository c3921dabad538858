/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For old programs: grinterop_nvcc.h declares what this header did. */
#pragma GCC system_header
