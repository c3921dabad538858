/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The error codes of the driver API with their names and messages. */
#include "softcuda/driver/soft.h"

static const struct {
    int code;
    const char *name; /* NULL if only the runtime API has the error */
    const char *sentence;
} errors[] = {
#define BOTH(code, driver, runtime, sentence)  {code, "CUDA_ERROR_" #driver, sentence},
#define NAMED(code, driver, runtime, sentence) {code, driver, sentence},
#include "softcuda/driver/errors.def"
#undef BOTH
#undef NAMED
};

/* The index of the code's row, or -1. */
static int find_error(CUresult error)
{
    for (int i = 0; i < (int)(sizeof(errors) / sizeof(*errors)); i++)
        if (errors[i].code == (int)error && errors[i].name)
            return i;
    return -1;
}

SOFT_API cuGetErrorName(CUresult error, const char **pStr)
{
    int row = find_error(error);
    SOFT_FAIL_IF(!pStr, CUDA_ERROR_INVALID_VALUE);
    *pStr = row < 0 ? NULL : errors[row].name;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SOFT_API cuGetErrorString(CUresult error, const char **pStr)
{
    int row = find_error(error);
    SOFT_FAIL_IF(!pStr, CUDA_ERROR_INVALID_VALUE);
    *pStr = row < 0 ? NULL : errors[row].sentence;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
