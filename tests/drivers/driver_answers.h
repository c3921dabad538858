/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The results that a test driver returns, per function: success, unless a test sets another result.
 */
#ifndef GR_TESTS_DRIVER_ANSWERS_H
#define GR_TESTS_DRIVER_ANSWERS_H

#include <cuda.h>
#include <stdint.h>
#include <string.h>

#define MOST_ANSWERS 8

static struct {
    const char *call;
    CUresult code;
} answers[MOST_ANSWERS];
static size_t answer_count;

static void forget_answers(void)
{
    answer_count = 0;
}

static void answer(const char *call, CUresult code)
{
    if (answer_count < MOST_ANSWERS) {
        answers[answer_count].call = call;
        answers[answer_count++].code = code;
    }
}

/* The result that was last set for the function. */
static CUresult answer_of(const char *call)
{
    for (size_t i = answer_count; i > 0; i--)
        if (strcmp(answers[i - 1].call, call) == 0)
            return answers[i - 1].code;
    return CUDA_SUCCESS;
}

/* ---- Functions of both drivers --------------------------------------------------------------- */

static CUresult CUDAAPI error_name(CUresult code, const char **name)
{
    static const struct {
        CUresult code;
        const char *name;
    } names[] = {
#define NAME(code) {code, #code},
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS) NAME(CUDA_ERROR_INVALID_HANDLE)
            NAME(CUDA_ERROR_INVALID_VALUE) NAME(CUDA_ERROR_NO_DEVICE) NAME(CUDA_ERROR_NOT_SUPPORTED)
                NAME(CUDA_ERROR_OPERATING_SYSTEM) NAME(CUDA_ERROR_OUT_OF_MEMORY)
                    NAME(CUDA_ERROR_UNKNOWN)
#undef NAME
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            *name = names[i].name;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI device_zero(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

/* Stands in for every other function. On all 64-bit systems the caller removes the arguments. */
static CUresult CUDAAPI do_nothing(void)
{
    return CUDA_SUCCESS;
}

typedef CUresult(CUDAAPI *any_function)(void);

struct driver_row {
    const char *name;
    any_function function;
};

#define ROW(name, function)                                                                        \
    {                                                                                              \
        name, (any_function)(uintptr_t)(function)                                                  \
    }

/* cuda.h defines one of the two names as a macro; which one depends on its version. */
#undef cuGetProcAddress
#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* Defines cuGetProcAddress(), which also finds the interface for tests, `api`, by its name. */
#define DEFINE_LOOK_UP(table, api)                                                                 \
    EXPORTED CUresult CUDAAPI look_up(                                                             \
        const char *name, void **found, int version, cuuint64_t flags,                             \
        CUdriverProcAddressQueryResult *status) __asm__("cuGetProcAddress_v2");                    \
    CUresult CUDAAPI look_up(const char *name, void **found, int version, cuuint64_t flags,        \
                             CUdriverProcAddressQueryResult *status)                               \
    {                                                                                              \
        const void *symbol = (const void *)(uintptr_t)do_nothing;                                  \
        (void)version, (void)flags;                                                                \
        if (status)                                                                                \
            *status = CU_GET_PROC_ADDRESS_SUCCESS;                                                 \
        if (strcmp(name, #api) == 0)                                                               \
            symbol = &api;                                                                         \
        else if (strcmp(name, "cuGetProcAddress") == 0)                                            \
            symbol = (const void *)(uintptr_t)look_up;                                             \
        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)                              \
            if (strcmp(table[i].name, name) == 0)                                                  \
                symbol = (const void *)(uintptr_t)table[i].function;                               \
        memcpy(found, &symbol, sizeof(symbol));                                                    \
        return CUDA_SUCCESS;                                                                       \
    }

#endif
