/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls for which the driver and compat.h must return the same code. */
#ifndef GR_TESTS_COMPAT_ROWS_H
#define GR_TESTS_COMPAT_ROWS_H

#include <cuda.h>

#include "tests/support/support.h"

/* The functions of the driver, or the functions that replace them in compat.h. */
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

/* The functions that ROW() calls: those of the driver or those of compat.h. */
extern const struct compat_side *side;

/*
 * One row: the call must return CUDA_<code>. If it does not, the case continues and fails at its
 * end.
 */
#define ROW(code, call) compat_note(#call, side->call, CUDA_##code)
void compat_note(const char *call, CUresult got, CUresult wanted);

/* For calls that crash the NVIDIA driver, or for which it returns a different code. */
#define ROW_NOT_GPU(code, call)                                                                    \
    do {                                                                                           \
        if (side->is_header || gr_cuda_is_software())                                              \
            ROW(code, call);                                                                       \
    } while (0)

/* Registers a new buffer of this size. */
CUgraphicsResource compat_buffer(size_t size);

/* A GL_RGBA8 texture, SIZE by SIZE, with one level. */
GLuint compat_texture(int size);

/* Each case runs once with the driver and once with compat.h. The last entry has no function. */
struct compat_case {
    const char *name;
    void (*run)(void);
};
extern const struct compat_case compat_cases[];

/* The case of an array that is registered as a 3D image, and such an array. */
void compat_layers_as_slices(void);
GLuint compat_array_texture(unsigned char texels[3 * 5 * 7 * 4]);

#endif
