/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/barriers.h"

#include <string.h>

#include "softcuda/nvcc/text.h"

static const char *const barriers[] = {"__syncthreads",
                                       "__syncthreads_count",
                                       "__syncthreads_and",
                                       "__syncthreads_or",
                                       "__syncwarp",
                                       "__shfl_sync",
                                       "__shfl_up_sync",
                                       "__shfl_down_sync",
                                       "__shfl_xor_sync",
                                       "__shfl",
                                       "__shfl_up",
                                       "__shfl_down",
                                       "__shfl_xor",
                                       "__ballot_sync",
                                       "__any_sync",
                                       "__all_sync",
                                       "__ballot",
                                       "__any",
                                       "__all",
                                       "__activemask",
                                       "__match_any_sync",
                                       "__match_all_sync",
                                       "__reduce_add_sync",
                                       "__reduce_min_sync",
                                       "__reduce_max_sync",
                                       "__reduce_and_sync",
                                       "__reduce_or_sync",
                                       "__reduce_xor_sync",
                                       "this_thread_block",
                                       "this_grid",
                                       "tiled_partition",
                                       "coalesced_threads",
                                       "thread_block",
                                       "thread_block_tile",
                                       "coalesced_group",
                                       "grid_group",
                                       "this_multi_grid",
                                       "arrive_and_wait",
                                       "binary_partition",
                                       "labeled_partition",
                                       "make_pipeline",
                                       "__barrier_sync",
                                       "__barrier_sync_count",
                                       NULL};

static const char *const places[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};

static const char *const orders[] = {"__shared__",
                                     "volatile",
                                     "printf",
                                     "clock",
                                     "clock64",
                                     "__nanosleep",
                                     "__threadfence",
                                     "__threadfence_block",
                                     "__threadfence_system",
                                     "atomicAdd",
                                     "atomicSub",
                                     "atomicExch",
                                     "atomicMin",
                                     "atomicMax",
                                     "atomicInc",
                                     "atomicDec",
                                     "atomicCAS",
                                     "atomicAnd",
                                     "atomicOr",
                                     "atomicXor",
                                     "asm",
                                     "__asm__",
                                     "__asm",
                                     NULL};

/* The names of all functions, variables and classes that have a property. */
typedef struct {
    words names;
    bool whole; /* search parameters and return types for names, not only bodies */
    /*
     * Some class, or some host function with a device lambda, has the property. Any template may
     * receive that class or lambda as an argument, so all templates count as having the property.
     */
    bool passed;
} property;

struct reach {
    const source *s;
    const declarations *found;
    property barrier;
    property place;
    property order;
};

static bool names_any(const source *s, size_t first, size_t last, const property *p,
                      const char *const *seeds)
{
    for (size_t i = first; i <= last && i < s->count; i++)
        if ((s->tokens[i].is_step && seeds == barriers) ||
            (token_is_name(s, i) &&
             (token_in(s, i, p->names.items) || (seeds && token_in(s, i, seeds)))))
            return true;
    return false;
}

static bool is_known(const source *s, size_t name, const property *p)
{
    return token_in(s, name, p->names.items);
}

/*
 * The name of a declaration. For a table of functions, this is the name of the table, because calls
 * through the table contain this name.
 */
static size_t name_of(const source *s, const declaration *d)
{
    if (d->name != NO_TOKEN || d->what != DECLARED_OTHER || d->is_type)
        return d->name;
    for (size_t i = d->first; i < d->last; i++)
        if (token_is_name(s, i) &&
            (token_is(s, i + 1, "=") || token_is(s, i + 1, "[") || token_is(s, i + 1, ")")))
            return i;
    return NO_TOKEN;
}

static bool names_word(const source *s, const declaration *d, const char *word)
{
    for (size_t i = d->first; i <= d->last && i < s->count; i++)
        if (token_is(s, i, word))
            return true;
    return false;
}

/* Whether kernels may call the function by name, or receive the object as an argument. */
static bool is_for_kernels(const source *s, const declaration *d)
{
    if (d->is_global || (d->what == DECLARED_FUNCTION && d->body == NO_TOKEN))
        return false;
    return d->is_device || d->is_constant || d->is_shared || names_word(s, d, "__device__");
}

static size_t first_of(const declaration *d, const property *p)
{
    return d->body != NO_TOKEN && !p->whole ? d->body : d->first;
}

/* Makes one pass over all declarations; true if it added a name. */
static bool propagate(const source *s, const declarations *found, property *p,
                      const char *const *seeds)
{
    bool changed = false;
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        size_t name = name_of(s, d);
        if (name == NO_TOKEN || is_known(s, name, p) || !is_for_kernels(s, d) ||
            !names_any(s, first_of(d, p), d->last, p, seeds))
            continue;
        if (d->what == DECLARED_CLASS || !(d->is_device || d->is_shared))
            p->passed = true;
        words_add(&p->names, token_text(s, name));
        changed = true;
    }
    return changed;
}

static bool is_defined(const source *s, const declarations *found, size_t name)
{
    const char *text = token_text(s, name);
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d->what == DECLARED_FUNCTION && d->body != NO_TOKEN && d->name != NO_TOKEN &&
            token_is(s, d->name, text))
            return true;
    }
    return false;
}

/*
 * Adds the __device__ functions of other files to the names with the property, because they may do
 * anything.
 */
static void add_external(const source *s, const declarations *found, property *p)
{
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d->what == DECLARED_FUNCTION && d->is_device && d->body == NO_TOKEN &&
            d->name != NO_TOKEN && !is_known(s, d->name, p) && !is_defined(s, found, d->name))
            words_add(&p->names, token_text(s, d->name));
    }
}

static void find(const source *s, const declarations *found, property *p, const char *const *seeds)
{
    static const char *none[] = {NULL};
    p->names.items = none;
    add_external(s, found, p);
    while (propagate(s, found, p, seeds))
        ;
}

reach *reach_find(const source *s, const declarations *found)
{
    reach *r = keep(sizeof(*r));
    r->s = s;
    r->found = found;
    find(s, found, &r->barrier, barriers);
    find(s, found, &r->place, places);
    r->order.whole = true;
    find(s, found, &r->order, orders);
    return r;
}

bool reach_has_barrier(const reach *r, const declaration *kernel)
{
    if (kernel->header != NO_TOKEN && r->barrier.passed)
        return true;
    return names_any(r->s, kernel->body, kernel->last, &r->barrier, barriers);
}

bool reach_uses_index(const reach *r, const declaration *kernel)
{
    if (kernel->header != NO_TOKEN && r->place.passed)
        return true;
    return names_any(r->s, kernel->body, kernel->last, &r->place, NULL);
}

bool reach_needs_order(const reach *r, const declaration *kernel)
{
    if (kernel->header != NO_TOKEN && r->order.passed)
        return true;
    return names_any(r->s, kernel->first, kernel->last, &r->order, orders);
}
