/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of the library, and their handles from the driver. They are embedded, or in files
 * that were built elsewhere, such as Debian's package grinterop-kernels.
 */
#include "lib/cuda/kernel_module.h"

#include "lib/base/compiler.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/loader.h"
#include "lib/base/lock.h"
#include "lib/base/thread.h"

/* The version is a part of the names, because the parameters of kernels change. */
#define FOR_GPU  "grinterop-" GR_LIBRARY_VERSION ".fatbin"
#define FOR_HOST "grinterop-" GR_LIBRARY_VERSION ".so"

#ifdef _WIN32
/*
 * The assembler for this object format has no hidden symbols, and the software driver does not
 * exist on this platform.
 */
static const unsigned char gr_kernels_gpu[1], gr_kernels_host[1];
static const unsigned char gr_kernels_gpu_built, gr_kernels_host_built;
#define NO_KERNEL "This call needs a kernel, which grinterop does not have on Windows."
#else
#define NO_KERNEL                                                                                  \
    "This call needs a kernel, but grinterop was built without nvcc, and has no " FOR_GPU          \
    ": install it (Debian: grinterop-kernels), or configure grinterop with NVCC=... (from the "    \
    "CUDA Toolkit) and build again."

/*
 * The assembler finds the file through -Wa,-I. The file is empty if these kernels were not
 * compiled. Each symbol has its own section, so that a static program that loads no kernel omits
 * the kernels.
 */
#define SYMBOL(symbol)                                                                             \
    ".pushsection .rodata." symbol ",\"a\"\n"                                                      \
    ".balign 16\n"                                                                                 \
    ".globl " symbol "\n"                                                                          \
    ".hidden " symbol "\n" symbol ":\n"
#define EMBED(symbol, file)                                                                        \
    __asm__(SYMBOL(symbol) "0: .incbin \"" file "\"\n"                                             \
                           "1: .zero 16\n"                                                         \
                           ".popsection\n");                                                       \
    __asm__(SYMBOL(symbol "_built") ".byte (1b - 0b) != 0\n"                                       \
                                    ".popsection\n")
EMBED("gr_kernels_gpu", "grinterop.fatbin");
EMBED("gr_kernels_host", "grinterop.so");
#define HIDDEN extern GR_HIDDEN
HIDDEN const unsigned char gr_kernels_gpu[], gr_kernels_host[];
HIDDEN const unsigned char gr_kernels_gpu_built, gr_kernels_host_built;
#endif

static const unsigned char *image(void)
{
    return gr_driver_traits()->host_kernels ? gr_kernels_host : gr_kernels_gpu;
}

static bool are_embedded(void)
{
    return gr_driver_traits()->host_kernels ? gr_kernels_host_built : gr_kernels_gpu_built;
}

/*
 * The path of the kernels that are a file, or "". It is found once, because copies of textures are
 * laid out by whether there are kernels. A relative path could become another file.
 */
static char file[GR_PATH_SIZE];

static void find_file(void)
{
#ifndef _WIN32
    const char *name = gr_driver_traits()->host_kernels ? FOR_HOST : FOR_GPU;
    if (!gr_driver_find_file(name, file, sizeof(file)) || file[0] != '/')
        file[0] = '\0';
#endif
}

bool gr_kernels_are_there(void)
{
    static gr_once once = GR_ONCE;
    if (are_embedded())
        return true;
    gr_call_once(&once, find_file);
    return file[0] != '\0';
}

static gr_status refuse_missing(void)
{
    if (gr_driver_traits()->host_kernels)
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "This call needs a kernel, but grinterop was built without kernels for the "
            "software CUDA driver, and has no " FOR_HOST ": install it "
            "(Debian: grinterop-softcuda), or configure grinterop with the headers of CUDA and a "
            "C++17 compiler (CXX=...).");
    return gr_fail(GR_ERR_UNSUPPORTED, NO_KERNEL
                   " A tensor with the same bytes as the image (same type, channels last, "
                   "same number of channels) needs no kernel.");
}

static gr_status refuse_load(CUresult result, const char *driver_call)
{
    const char *advice = "";
    if (!are_embedded())
        return gr_fail_cuda(
            result, driver_call,
            "%s: the driver does not load grinterop's kernels from %.*s: install the "
            "file again, from a build for this GPU and its driver.",
            gr_call, GR_PATH_SIZE, file);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
        result == CUDA_ERROR_INVALID_IMAGE)
        advice = " They were compiled by an nvcc that does not support this GPU or its driver: "
                 "build grinterop with another toolkit.";
    return gr_fail_cuda(result, driver_call, "%s: the driver does not load grinterop's kernels.%s",
                        gr_call, advice);
}

/* The kernels are loaded once, and kept until the process ends. */
static struct gr_lock lock = GR_LOCK(KERNEL_MODULES);
static CUlibrary library;

static CUresult load_library(CUlibrary *loaded)
{
    CUresult result = CUDA_SUCCESS;
    GR_LOCKED(&lock);
    if (!library && are_embedded())
        result = gr_driver()->LibraryLoadData(&library, image(), NULL, NULL, 0, NULL, NULL, 0);
    else if (!library)
        result = gr_driver()->LibraryLoadFromFile(&library, file, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS)
        library = NULL;
    *loaded = library;
    return result;
}

static gr_status find_in_library(const char *name, CUfunction *kernel)
{
    CUlibrary loaded;
    CUkernel found = NULL;
    CUresult result = load_library(&loaded);
    if (result != CUDA_SUCCESS)
        return refuse_load(result, are_embedded() ? "cuLibraryLoadData" : "cuLibraryLoadFromFile");
    result = gr_driver()->LibraryGetKernel(&found, loaded, name);
    if (result != CUDA_SUCCESS)
        return refuse_load(result, "cuLibraryGetKernel");
    /* The driver also launches a CUkernel that is passed as a CUfunction. */
    *kernel = (CUfunction)found;
    return GR_OK;
}

static gr_status find_in_module(const char *name, CUmodule *module, CUfunction *kernel)
{
    const struct gr_driver_api *cu = gr_driver();
    CUresult result = CUDA_SUCCESS;
    if (!*module && are_embedded())
        result = cu->ModuleLoadData(module, image());
    else if (!*module)
        result = cu->ModuleLoad(module, file);
    if (result != CUDA_SUCCESS) {
        *module = NULL;
        return refuse_load(result, are_embedded() ? "cuModuleLoadData" : "cuModuleLoad");
    }
    result = cu->ModuleGetFunction(kernel, *module, name);
    return result == CUDA_SUCCESS ? GR_OK : refuse_load(result, "cuModuleGetFunction");
}

gr_status gr_kernel_find(const char *name, CUmodule *module, CUfunction *kernel)
{
    if (!gr_kernels_are_there())
        return refuse_missing();
    if (GR_DRIVER_HAS(gr_driver(), LibraryLoadData))
        return find_in_library(name, kernel);
    return find_in_module(name, module, kernel);
}

void gr_kernels_unload(CUmodule *module, bool alive)
{
    if (alive && *module)
        gr_driver()->ModuleUnload(*module);
    *module = NULL;
}
