/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL programs from source text.
 */
#ifndef SHADER_H
#define SHADER_H

/* The program's name; 0 after an error, which has been printed with the compiler's words. */
unsigned shader_program(const char *vertex, const char *fragment);

#endif
