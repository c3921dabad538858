/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_client_calls: entry points of the CUDA driver that grinterop does not
 * use but PyCUDA, cuda.core and numba-cuda do. Each case runs on the software driver and on a GPU.
 */
#ifndef GR_TESTS_CLIENT_CALLS_H
#define GR_TESTS_CLIENT_CALLS_H

#include "tests/support/driver_symbol.h"
#include "softcuda/tests/reads.h"

#define SIZE ((size_t)64 * 1024)

/*
 * Pass a CUipcMemHandle or a CUipcEventHandle to a child in the environment variable with this
 * name, as hexadecimal digits (client_calls_ipc.c).
 */
void put_handle(const char *name, const void *handle);
void take_handle(const char *name, void *handle);

#endif
