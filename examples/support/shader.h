/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds OpenGL programs from source text. */
#ifndef SHADER_H
#define SHADER_H

#include <stddef.h>

/* Returns the program; 0 after an error, which has been printed with the compiler log. */
unsigned shader_program(const char *vertex, const char *fragment);

/* Reads an attribute of four floats at that offset of each vertex from the bound buffer. */
void shader_attribute(unsigned location, size_t vertex_size, size_t offset);

#endif
