/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Embeds shaders in the program, as text for OpenGL and as SPIR-V for Vulkan.
 *
 *     GLSL(NAME, STAGE);
 *
 * at file scope embeds both forms of the file NAME.STAGE as NAME_STAGE. The assembler finds
 * NAME.STAGE and NAME.STAGE.spv through -Wa,-I. The .spv file is empty if it was not built.
 */
#ifndef GLSL_H
#define GLSL_H

#include <stddef.h>

struct glsl {
    const char *file;
    const char *text; /* zero-terminated */
    const unsigned char *spirv, *spirv_end;
};

/* Only one file of a program may embed a given shader, since its symbols are global. */
#define GLSL(NAME, STAGE)                                                                          \
    __asm__(".pushsection .rodata\n" GLSL_PART(#NAME "_" #STAGE "_text", #NAME "." #STAGE)         \
                GLSL_PART(#NAME "_" #STAGE "_spirv", #NAME "." #STAGE ".spv") ".popsection\n");    \
    GLSL_SYMBOL(char, glsl_##NAME##_##STAGE##_text)                                                \
    GLSL_SYMBOL(unsigned char, glsl_##NAME##_##STAGE##_spirv)                                      \
    GLSL_SYMBOL(unsigned char, glsl_##NAME##_##STAGE##_spirv_end)                                  \
    const struct glsl NAME##_##STAGE = {                                                           \
        #NAME "." #STAGE,                                                                          \
        glsl_##NAME##_##STAGE##_text,                                                              \
        glsl_##NAME##_##STAGE##_spirv,                                                             \
        glsl_##NAME##_##STAGE##_spirv_end,                                                         \
    }

#define GLSL_LABEL(symbol) ".globl " symbol "\n.hidden " symbol "\n" symbol ":\n"

/* SPIR-V must be aligned to words. The zero at the end terminates the text. */
/* clang-format off */
#define GLSL_PART(name, file)                                                                      \
    ".balign 4\n"                                                                                  \
    GLSL_LABEL("glsl_" name)                                                                       \
    ".incbin \"" file "\"\n"                                                                       \
    GLSL_LABEL("glsl_" name "_end")                                                                \
    ".zero 4\n"
/* clang-format on */

#define GLSL_SYMBOL(type, symbol) extern __attribute__((visibility("hidden"))) const type symbol[];

#endif
