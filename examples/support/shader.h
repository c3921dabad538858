/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds OpenGL programs from source text. */
#ifndef SHADER_H
#define SHADER_H

/* Returns the program; 0 after an error, which has been printed with the compiler log. */
unsigned shader_program(const char *vertex, const char *fragment);

#endif
