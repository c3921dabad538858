/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Entry points of the CUDA driver by their exact names, each with its own type. */
#ifndef GR_TESTS_DRIVER_SYMBOL_H
#define GR_TESTS_DRIVER_SYMBOL_H

/* Makes the header give each version of an entry point its own name, as in the driver's symbols. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif

#include "support.h"

#include <cuda.h>
#include <cudaGL.h>

/* The driver symbol of that name; the case fails if it is missing. */
typedef void (*driver_call)(void);
driver_call driver_symbol(const char *name);

/*
 * Uses this file as the driver, without starting it. Otherwise the symbols come from grinterop's
 * driver, which is started.
 */
void driver_symbols_of(const char *path);

/* DRIVER(cuStreamGetId)(stream, &id) */
#define DRIVER(name) ((__typeof__(&name))driver_symbol(#name))

/*
 * The variant for programs compiled with per-thread default streams; the suffix is _ptsz or _ptds.
 */
#define DRIVER_TWIN(name, suffix) ((__typeof__(&name))driver_symbol(#name #suffix))

/* The call must return CUDA_<code>: GIVES(ERROR_INVALID_VALUE, cuStreamGetId, (stream, NULL)). */
#define GIVES(code, name, arguments)                                                               \
    assert_result(CUDA_##code, DRIVER(name) arguments, #name #arguments)
#define DRV(name, arguments)     GIVES(SUCCESS, name, arguments)
#define INVALID(name, arguments) GIVES(ERROR_INVALID_VALUE, name, arguments)

#define TWIN(name, suffix, arguments)                                                              \
    assert_result(CUDA_SUCCESS, DRIVER_TWIN(name, suffix) arguments, #name #suffix #arguments)

#endif
