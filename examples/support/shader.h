/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds OpenGL programs from source text. */
#ifndef SHADER_H
#define SHADER_H

#include <stddef.h>

/*
 * Builds a program and returns it. 0 after an error, which has been printed with the log of the
 * compiler.
 */
unsigned shader_program(const char *vertex, const char *fragment);

/*
 * Adds an attribute of four floats to the vertex array, read from the bound buffer at that offset
 * of each vertex.
 */
void shader_attribute(unsigned location, size_t vertex_size, size_t offset);

#endif
