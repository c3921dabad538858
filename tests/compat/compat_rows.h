/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls that the driver and compat.h must answer alike. */
#ifndef GR_TESTS_COMPAT_ROWS_H
#define GR_TESTS_COMPAT_ROWS_H

#include <cuda.h>

#include "tests/support/support.h"

/* The driver's own functions, or those behind compat.h's names. */
struct compat_side {
    const char *name;
    bool is_header;
    CUresult (*GLRegisterBuffer)(CUgraphicsResource *, unsigned, unsigned);
    CUresult (*GLRegisterImage)(CUgraphicsResource *, unsigned, unsigned, unsigned);
    CUresult (*UnregisterResource)(CUgraphicsResource);
    CUresult (*ResourceSetMapFlags)(CUgraphicsResource, unsigned);
    CUresult (*MapResources)(unsigned, CUgraphicsResource *, CUstream);
    CUresult (*UnmapResources)(unsigned, CUgraphicsResource *, CUstream);
    CUresult (*ResourceGetMappedPointer)(CUdeviceptr *, size_t *, CUgraphicsResource);
    CUresult (*SubResourceGetMappedArray)(CUarray *, CUgraphicsResource, unsigned, unsigned);
    CUresult (*ResourceGetMappedMipmappedArray)(CUmipmappedArray *, CUgraphicsResource);
};

/* The current one. */
extern const struct compat_side *side;

/* One row: the call must return CUDA_<code>. The case continues and fails at its end. */
#define ROW(code, call) compat_note(#call, side->call, CUDA_##code)
void compat_note(const char *call, CUresult got, CUresult wanted);

/* For behaviour in which NVIDIA's driver differs, or that crashes it. */
#define ROW_NOT_GPU(code, call)                                                                    \
    do {                                                                                           \
        if (side->is_header || gr_cuda_is_software())                                              \
            ROW(code, call);                                                                       \
    } while (0)

/* A registered buffer of that size. */
CUgraphicsResource compat_buffer(size_t size);

/* A GL_RGBA8 texture, SIZE by SIZE, with one level. */
GLuint compat_texture(int size);

/* Both sides run each case in turn; the last entry has no function. */
struct compat_case {
    const char *name;
    void (*run)(void);
};
extern const struct compat_case compat_cases[];

#endif
