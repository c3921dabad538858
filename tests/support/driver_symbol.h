/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls the entry points of the CUDA driver by their exact names, each with its own type. */
#ifndef GR_TESTS_DRIVER_SYMBOL_H
#define GR_TESTS_DRIVER_SYMBOL_H

/*
 * Makes cuda.h declare each version of an entry point under its own name, as the driver exports it.
 */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif

#include "support.h"

#include <cuda.h>
#include <cudaGL.h>

/* Returns the driver symbol with that name. The case fails if the driver does not export it. */
typedef void (*driver_call)(void);
driver_call driver_symbol(const char *name);

/*
 * Selects the file that driver_symbol() searches, and loads the file without calling cuInit().
 * Without this selection, driver_symbol() loads, initialises and searches the driver of grinterop.
 */
void driver_symbols_of(const char *path);

/* A pointer to the entry point, with its type: DRIVER(cuStreamGetId)(stream, &id). */
#define DRIVER(name) ((__typeof__(&name))driver_symbol(#name))

/*
 * The variant of an entry point for programs compiled with per-thread default streams. Its suffix
 * is _ptsz or _ptds.
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
