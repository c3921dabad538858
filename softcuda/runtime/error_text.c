/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names and one-line descriptions of errors. */
#include "softcuda/runtime/runtime.h"

static const struct text {
    int code;
    const char *name; /* NULL if only the driver API has the error */
    const char *line;
} texts[] = {
#define BOTH(code, driver, runtime, sentence)  {code, "cudaError" #runtime, sentence},
#define NAMED(code, driver, runtime, sentence) {code, runtime, sentence},
#include "softcuda/driver/errors.def"
#undef BOTH
#undef NAMED
};

static const struct text *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i].code == (int)error && texts[i].name)
            return &texts[i];
    return NULL;
}

SOFT_EXPORTED const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    const struct text *found = find(error);
    return found ? found->name : "unrecognized error code";
}

SOFT_EXPORTED const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    const struct text *found = find(error);
    return found ? found->line : "unrecognized error code";
}
