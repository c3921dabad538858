/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Embeds compiled kernels in the program. Each NAME.cu is compiled twice, for the GPU into
 * NAME.fatbin and for the software CUDA driver into NAME.so, and
 *
 *     KERNEL_IMAGE(NAME);
 *
 * at file scope embeds both as NAME_image, so that a program needs no other files at run time. The
 * assembler finds the two files through -Wa,-I.
 */
#ifndef KERNEL_IMAGE_H
#define KERNEL_IMAGE_H

#include <stdbool.h>

#include <cuda.h>

/* Both compiled forms of one kernel file. A form that was not built is empty. */
struct kernel_image {
    const char *name;
    const unsigned char *gpu, *gpu_end;
    const unsigned char *host, *host_end;
};

/*
 * Loads the compiled form for the CUDA driver in use into the current CUDA context. On failure,
 * prints to stderr what is missing, returns false and leaves *module unchanged.
 */
bool kernel_image_load(const struct kernel_image *image, CUmodule *module);

/* Only one file of a program may embed a given kernel file, since its symbols are global. */
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

/* If the file is empty, the image begins with these zeros, which mark it as empty. */
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
