/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/emptied.h"
#include "softcuda/nvcc/guards.h"
#include "softcuda/nvcc/host_calls.h"
#include "softcuda/nvcc/launch_flags.h"
#include "softcuda/nvcc/line.h"
#include "softcuda/nvcc/qualifiers.h"
#include "softcuda/nvcc/text.h"

/* Whether the `[` begins a lambda. It may also be an index or an attribute. */
static bool begins_lambda(const source *s, size_t i)
{
    if (!token_is(s, i, "[") || i == 0 || token_is(s, i + 1, "[") || token_is(s, i - 1, "["))
        return false;
    if (token_is_name(s, i - 1))
        return token_is(s, i - 1, "return");
    return !token_is(s, i - 1, ")") && !token_is(s, i - 1, "]") && !token_is(s, i - 1, "}") &&
           s->tokens[i - 1].kind == TOKEN_MARK;
}

/*
 * Whether the body contains a local class or a lambda, which cannot see the parameters that are
 * added to the body.
 */
static bool has_inner_function(const source *s, const declaration *d)
{
    for (size_t i = d->body + 1; i < d->last; i++)
        if (token_is(s, i, "struct") || token_is(s, i, "class") || begins_lambda(s, i))
            return true;
    return false;
}

static unsigned flags_of(const source *s, const declaration *kernel, const reach *r,
                         const rewrite_options *options)
{
    unsigned flags = 0;
    bool inner = has_inner_function(s, kernel);
    if (options->all_barriers || reach_has_barrier(r, kernel))
        flags |= LAUNCH_SYNC;
    if (inner || reach_uses_index(r, kernel))
        flags |= LAUNCH_PLACE;
    if (!inner)
        flags |= LAUNCH_GIVEN;
    return flags;
}

static bool has_rows(const source *s, const declaration *kernel)
{
    for (size_t i = kernel->body + 1; i < kernel->last; i++)
        if ((token_is(s, i, "threadIdx") || token_is(s, i, "blockIdx")) && !token_is(s, i + 2, "x"))
            return true;
    return false;
}

/*
 * The launch flags that say how the threads of a row may run, for a kernel whose threads share
 * nothing.
 */
static unsigned flags_of_rows(source *s, const declaration *kernel, const reach *r)
{
    static const unsigned of_guards[] = {[GUARDS_ANY] = LAUNCH_GUARD,
                                         [GUARDS_SPAN] = LAUNCH_GUARD | LAUNCH_SPAN,
                                         [GUARDS_STRIDE] = LAUNCH_GUARD | LAUNCH_STRIDE};
    bool far;
    const unsigned flags = of_guards[guards_rewrite(s, kernel, &far)];
    /*
     * A transposition runs faster block by block: the rows of a block write to the same cache
     * lines.
     */
    const bool is_line = line_uses_index_only(s, kernel) && !reach_needs_order(r, kernel) &&
                         !(far && has_rows(s, kernel));
    return is_line ? flags | LAUNCH_LINE : flags & ~(LAUNCH_SPAN | LAUNCH_STRIDE);
}

/*
 * Whether this is assembly code. asm with an empty string is not: it is a compiler barrier, and has
 * the same meaning here.
 */
static bool is_assembly(const source *s, size_t i)
{
    if (!token_is(s, i, "asm") && !token_is(s, i, "__asm__") && !token_is(s, i, "__asm"))
        return false;
    while (token_is_name(s, i + 1))
        i++;
    return token_is(s, i + 1, "(") && !token_is(s, i + 2, "\"\"");
}

static void refuse_assembly(const source *s, const declaration *d)
{
    for (size_t i = d->body; i < d->last; i++)
        if (is_assembly(s, i))
            token_die(s, i,
                      "grinterop-nvcc cannot run PTX on the host: give the function a body without "
                      "asm where __GRINTEROP_NVCC__ is defined");
}

/*
 * Makes a __device__ name local to its file. Under nvcc each file may have its own function or
 * variable of the same name, because nvcc does not link device code without -dc.
 */
static void make_local_to_file(source *s, const declaration *d)
{
    if (d->in_class || d->is_host || d->is_static || d->is_inline || d->is_extern ||
        d->is_extern_c || d->is_friend || d->is_qualified || d->header != NO_TOKEN ||
        token_is(s, d->name, "operator"))
        return;
    token_put_before(s, d->first, "static __attribute__((unused)) ");
}

static void rewrite_function(source *s, const declaration *d, const reach *r,
                             const rewrite_options *options)
{
    if (d->is_device && !options->separate && d->params != NO_TOKEN)
        make_local_to_file(s, d);
    if (d->body == NO_TOKEN)
        return;
    if (d->is_device || d->is_global)
        refuse_assembly(s, d);
    if (!d->is_global)
        return;
    warn_if_empty(s, d);
    unsigned flags = flags_of(s, d, r, options);
    if (flags == LAUNCH_GIVEN)
        flags |= flags_of_rows(s, d, r);
    rewrite_kernel(s, d, flags);
}

static void refuse_texture(const source *s, const declaration *d)
{
    if (token_is(s, d->first, "texture") && token_is(s, d->first + 1, "<"))
        token_die(s, d->first,
                  "texture references are gone since CUDA 12: use a texture object "
                  "(cudaCreateTextureObject)");
}

void rewrite_file(const char *from, const char *to, const rewrite_options *options)
{
    source s;
    declarations found;
    source_read(&s, from);
    declarations_find(&s, &found);
    refuse_host_calls(&s, &found);
    rewrite_steps(&s, &found);
    const reach *r = reach_find(&s, &found);
    for (size_t k = 0; k < found.count; k++) {
        const declaration *d = &found.items[k];
        refuse_texture(&s, d);
        if (d->what == DECLARED_FUNCTION)
            rewrite_function(&s, d, r, options);
        else if (d->is_device || d->is_constant || d->is_managed)
            rewrite_variable(&s, d, options);
    }
    rewrite_shared(&s, &found);
    rewrite_launches(&s);
    remove_qualifiers(&s);
    source_write(&s, to);
}
