/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/emptied.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/text.h"

/* Types of the variables that may be declared before an #if that tests __CUDA_ARCH__. */
static const char *const types[] = {"const", "unsigned", "int",  "long", "size_t",
                                    "float", "double",   "auto", NULL};

/* Whether the body of the kernel is empty or only declares variables of these types. */
static bool does_nothing(const source *s, const declaration *kernel)
{
    bool begins = true;
    for (size_t i = kernel->body + 1; i < kernel->last; i++) {
        const bool ends = token_is(s, i, ";");
        if ((begins && !ends && !token_in(s, i, types)) || token_is(s, i, "(") ||
            token_is(s, i, "{"))
            return false;
        begins = ends;
    }
    return true;
}

static bool lines_name_arch(const char *path, unsigned first, unsigned last)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    for (unsigned n = 1; file && n <= last && !found && getline(&line, &room, file) >= 0; n++)
        found = n >= first && strstr(line, "__CUDA_ARCH__");
    free(line);
    if (file)
        fclose(file);
    return found;
}

void warn_if_empty(const source *s, const declaration *kernel)
{
    const token *open = &s->tokens[kernel->body], *close = &s->tokens[kernel->last];
    if (does_nothing(s, kernel) && strcmp(open->file, close->file) == 0 &&
        lines_name_arch(open->file, open->line, close->line))
        token_warn(s, kernel->name,
                   keep_text("kernel %s does nothing: __CUDA_ARCH__ is not defined here; add || "
                             "defined(__GRINTEROP_NVCC__) to its #if, or build with "
                             "-D__CUDA_ARCH__=800",
                             token_text(s, kernel->name)));
}
