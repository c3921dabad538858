/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of the CUDA driver by their exact names, each with its own type. */
#ifndef GR_TESTS_DRIVER_SYMBOL_H
#define GR_TESTS_DRIVER_SYMBOL_H

/* Each version of an entry point has its own name then, as among the driver's symbols. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif

#include "support.h"

#include <cudaGL.h>

/* The driver's symbol of that name; the case fails if there is none. */
typedef void (*driver_call)(void);
driver_call driver_symbol(const char *name);

/* Takes this file for the driver, and starts nothing; else it is grinterop's, which is started. */
void driver_symbols_of(const char *path);

/* DRIVER(cuStreamGetId)(stream, &id) */
#define DRIVER(name) ((__typeof__(&name))driver_symbol(#name))

/* Its twin for programs whose default stream is each thread's own; the suffix is _ptsz or _ptds. */
#define DRIVER_TWIN(name, suffix) ((__typeof__(&name))driver_symbol(#name #suffix))

/* The call has to give CUDA_<code>: GIVES(ERROR_INVALID_VALUE, cuStreamGetId, (stream, NULL)). */
#define GIVES(code, name, arguments)                                                               \
    assert_result(CUDA_##code, DRIVER(name) arguments, #name #arguments)
#define DRV(name, arguments) GIVES(SUCCESS, name, arguments)

#define TWIN(name, suffix, arguments)                                                              \
    assert_result(CUDA_SUCCESS, DRIVER_TWIN(name, suffix) arguments, #name #suffix #arguments)

#endif
