/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The qualifiers that CUDA adds to declarations, such as __device__. The host compiler does not
 * know them.
 */
#ifndef GR_SOFTCUDA_NVCC_QUALIFIERS_H
#define GR_SOFTCUDA_NVCC_QUALIFIERS_H

#include <stdbool.h>
#include <stddef.h>

#include "softcuda/nvcc/source.h"

/* Whether the word is such a qualifier, which has no meaning on the host. */
bool is_qualifier(const char *word, size_t length);

/* Removes the qualifiers and their arguments from the program. */
void remove_qualifiers(source *s);

#endif
