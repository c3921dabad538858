/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Selects the compiled form of a kernel file for the CUDA driver in use: for the GPU or for the
 * host.
 */
#include "kernel_image.h"

#include <stdio.h>

#include <grinterop/cuda.h>

static bool not_built(const char *name, bool software)
{
    fprintf(stderr, "The kernels of %s %s.\n", name,
            software ? "were not built for the software CUDA driver. Configure with a C++17 "
                       "compiler (CXX=...) and build again"
                     : "were not built for a GPU: nvcc was missing at configure time. Install the "
                       "CUDA Toolkit, configure again (NVCC=... names its compiler) and build, or "
                       "set GR_CUDA_DRIVER=soft to run them on the CPU");
    return false;
}

static bool refused(const char *name, const gr_cuda_api *cuda, CUresult result)
{
    const char *code = "unknown error", *text = "";
    cuda->GetErrorName(result, &code);
    cuda->GetErrorString(result, &text);
    fprintf(stderr, "The CUDA driver (%s) cannot load the kernels of %s: %s (%s).\n",
            gr_cuda_driver_path(), name, code, text);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        fprintf(stderr, "They were compiled by an nvcc that does not fit this GPU or its driver: "
                        "build again with the toolkit of this machine.\n");
    return false;
}

bool kernel_image_load(const struct kernel_image *image, CUmodule *module)
{
    const gr_cuda_api *cuda = gr_cuda();
    if (!cuda) {
        fprintf(stderr, "The kernels of %s cannot be loaded: ", image->name);
        gr_error_print(stderr, NULL);
        return false;
    }
    const bool software = gr_cuda_is_software();
    const unsigned char *start = software ? image->host : image->gpu;
    /*
     * The image is empty if it begins with a zero. Comparing its start with its end would not work,
     * since a compiler may assume that two symbols have different addresses.
     */
    if (start[0] == 0)
        return not_built(image->name, software);

    CUmodule loaded = NULL;
    const CUresult result = cuda->ModuleLoadData(&loaded, start);
    if (result != CUDA_SUCCESS)
        return refused(image->name, cuda, result);
    *module = loaded;
    return true;
}
