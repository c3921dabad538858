/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernels inside the program that uses them. Each NAME.cu is compiled twice, for the GPU
 * into NAME.fatbin and for the software CUDA driver into NAME.so, and
 *
 *     KERNEL_IMAGE(NAME);
 *
 * at file scope puts both into the program, as NAME_image. So a program needs no files beside it at
 * run time. The assembler looks for the two files where -Wa,-I says.
 */
#ifndef KERNEL_IMAGE_H
#define KERNEL_IMAGE_H

#include <stdbool.h>

#include <cuda.h>

/* Both compilations of one kernel file. An empty one was not built. */
struct kernel_image {
    const char *name;
    const unsigned char *gpu, *gpu_end;
    const unsigned char *host, *host_end;
};

/*
 * Loads the compilation that fits the CUDA driver in use into the current CUDA context. On failure
 * it says on the standard error stream what is missing, returns false and leaves *module alone.
 */
bool kernel_image_load(const struct kernel_image *image, CUmodule *module);

/* One file of a program may embed a kernel file: its symbols are the program's. */
#define KERNEL_IMAGE(NAME)                                                                         \
    __asm__(".pushsection .rodata\n" KERNEL_IMAGE_FILE(#NAME, "gpu", "fatbin")                     \
                KERNEL_IMAGE_FILE(#NAME, "host", "so") ".popsection\n");                           \
    KERNEL_IMAGE_SYMBOLS(kernel_image_##NAME##_gpu)                                                \
    KERNEL_IMAGE_SYMBOLS(kernel_image_##NAME##_host)                                               \
    static const struct kernel_image NAME##_image = {                                              \
        #NAME,                                                                                     \
        kernel_image_##NAME##_gpu,                                                                 \
        kernel_image_##NAME##_gpu_end,                                                             \
        kernel_image_##NAME##_host,                                                                \
        kernel_image_##NAME##_host_end,                                                            \
    }

#define KERNEL_IMAGE_LABEL(symbol) ".globl " symbol "\n.hidden " symbol "\n" symbol ":\n"

/* The zeros behind an image are what the loader finds where the file was empty. */
/* clang-format off */
#define KERNEL_IMAGE_FILE(name, kind, suffix)                                                      \
    ".balign 16\n"                                                                                 \
    KERNEL_IMAGE_LABEL("kernel_image_" name "_" kind)                                              \
    ".incbin \"" name "." suffix "\"\n"                                                            \
    KERNEL_IMAGE_LABEL("kernel_image_" name "_" kind "_end")                                       \
    ".zero 16\n"
/* clang-format on */

#define KERNEL_IMAGE_SYMBOLS(symbol)                                                               \
    extern __attribute__((visibility("hidden"))) const unsigned char symbol[];                     \
    extern __attribute__((visibility("hidden"))) const unsigned char symbol##_end[];

#endif
