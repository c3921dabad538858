/* SPDX-License-Identifier: Apache-2.0 */
/* Old programs include this: grinterop_nvcc.h has what it declared. */
#pragma GCC system_header
