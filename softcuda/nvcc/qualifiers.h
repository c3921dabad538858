/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The words that CUDA adds to declarations, which the host compiler does not know. */
#ifndef GR_SOFTCUDA_NVCC_QUALIFIERS_H
#define GR_SOFTCUDA_NVCC_QUALIFIERS_H

#include <stdbool.h>
#include <stddef.h>

#include "softcuda/nvcc/source.h"

/* Whether the word means nothing on the host. */
bool is_qualifier(const char *word, size_t length);

/* Removes them and their arguments. */
void remove_qualifiers(source *s);

#endif
