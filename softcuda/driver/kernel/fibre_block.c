/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Blocks whose threads synchronise, at barriers or lane by lane in a warp. Each thread is a fibre.
 * The fibres run in turns, each until it waits or ends. When no fibre can run, either all remaining
 * fibres have reached the barrier and continue, or lanes wait for other lanes that took another
 * path. The waiting lanes then continue without the lanes on the other path.
 */
#include "softcuda/driver/kernel/fibre.h"

#define WARP 32u

static int barrier(void *set_of_fibres, int predicate)
{
    soft_fibres *set = set_of_fibres;
    soft_fibre *self = set->current;
    set->votes += predicate != 0;
    self->state = SOFT_FIBRE_AT_BARRIER;
    soft_fibre_leave(self);
    return set->result;
}

static soft_fibre *warp_of(soft_fibres *set, const soft_fibre *f)
{
    return set->all + (size_t)(f - set->all) / WARP * WARP;
}

static unsigned lanes_of(const soft_fibres *set, const soft_fibre *warp)
{
    unsigned rest = set->used - (unsigned)(warp - set->all);
    return rest < WARP ? rest : WARP;
}

/*
 * The lanes that wait with the same mask as the given lane. `same_call` excludes lanes at other
 * calls: for exchanges without a mask, and if some lanes of the mask have not arrived.
 */
static unsigned group_of(soft_fibres *set, const soft_fibre *f, bool same_call)
{
    const soft_fibre *warp = warp_of(set, f);
    unsigned group = 0;
    for (unsigned lane = 0; lane < lanes_of(set, warp); lane++) {
        const soft_fibre *other = &warp[lane];
        if (other->state == SOFT_FIBRE_AT_EXCHANGE && other->exchange.mask == f->exchange.mask &&
            (!same_call || other->exchange.site == f->exchange.site))
            group |= 1u << lane;
    }
    return group;
}

static unsigned running(soft_fibres *set, const soft_fibre *f)
{
    const soft_fibre *warp = warp_of(set, f);
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < lanes_of(set, warp); lane++)
        if (warp[lane].state != SOFT_FIBRE_ENDED)
            lanes |= 1u << lane;
    return lanes;
}

static void finish(soft_fibres *set, const soft_fibre *f, unsigned group)
{
    soft_fibre *warp = warp_of(set, f);
    for (unsigned to = 0; to < WARP; to++) {
        if (!(group >> to & 1))
            continue;
        for (unsigned from = 0; from < WARP; from++)
            warp[to].exchange.values[from] = group >> from & 1 ? warp[from].exchange.value : 0;
        warp[to].exchange.came = group;
        warp[to].state = SOFT_FIBRE_RUNS;
    }
}

/* Releases the group if all its lanes have arrived. */
static void finish_if_all(soft_fibres *set, const soft_fibre *f)
{
    unsigned mask = f->exchange.mask;
    unsigned group = group_of(set, f, mask == 0);
    unsigned wanted = running(set, f) & (mask ? mask : ~0u);
    if ((wanted & ~group) == 0)
        finish(set, f, group);
}

static unsigned exchange(void *set_of_fibres, unsigned mask, uint64_t value, uint64_t values[32])
{
    soft_fibres *set = set_of_fibres;
    soft_fibre *self = set->current;
    self->exchange = (soft_exchange){
        .mask = mask, .value = value, .values = values, .site = __builtin_return_address(0)};
    self->state = SOFT_FIBRE_AT_EXCHANGE;
    finish_if_all(set, self);
    /* A lane that meets only itself lets the other threads run: gr_cuhost::meeting. */
    bool is_alone = mask == 1u << (self - set->all) % WARP;
    if (is_alone || self->state == SOFT_FIBRE_AT_EXCHANGE)
        soft_fibre_leave(self);
    return self->exchange.came;
}

/* Ends a thread. Other lanes no longer wait for it. */
static void end_thread(soft_fibres *set, const soft_fibre *f)
{
    const soft_fibre *warp = warp_of(set, f);
    for (unsigned lane = 0; lane < lanes_of(set, warp); lane++)
        if (warp[lane].state == SOFT_FIBRE_AT_EXCHANGE)
            finish_if_all(set, &warp[lane]);
}

/* Runs all fibres until none can run. */
static void run_all(soft_fibres *set)
{
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < set->used; i++) {
            soft_fibre *f = &set->all[i];
            if (f->state != SOFT_FIBRE_RUNS)
                continue;
            soft_fibre_enter(f);
            any = true;
            if (f->state == SOFT_FIBRE_ENDED) {
                end_thread(set, f);
            } else if (f->state == SOFT_FIBRE_STOPPED) {
                soft_fibres_drop(set);
                soft_block_stop();
            }
        }
    }
}

/* In each warp, lets the first waiting lane continue with the lanes that wait at the same call. */
static bool continue_waiting_lanes(soft_fibres *set)
{
    bool any = false;
    for (unsigned i = 0; i < set->used; i++) {
        soft_fibre *f = &set->all[i];
        if (f->state != SOFT_FIBRE_AT_EXCHANGE)
            continue;
        finish(set, f, group_of(set, f, true));
        any = true;
        i = i / WARP * WARP + WARP - 1;
    }
    return any;
}

static bool pass_barrier(soft_fibres *set)
{
    bool any = false;
    for (unsigned i = 0; i < set->used; i++)
        if (set->all[i].state == SOFT_FIBRE_AT_BARRIER) {
            set->all[i].state = SOFT_FIBRE_RUNS;
            any = true;
        }
    set->result = set->votes;
    set->votes = 0;
    return any;
}

static void begin_threads(soft_fibres *set, const unsigned dim[3])
{
    for (unsigned i = 0; i < set->used; i++) {
        soft_fibre *f = &set->all[i];
        f->thread[0] = i % dim[0];
        f->thread[1] = i / dim[0] % dim[1];
        f->thread[2] = i / dim[0] / dim[1];
        f->state = SOFT_FIBRE_RUNS;
    }
}

bool soft_fibres_run(const soft_grid *grid, gr_cuhost_block *block)
{
    const unsigned *dim = block->block_dim;
    soft_fibres *set = soft_fibres_get(dim[0] * dim[1] * dim[2], grid->stack);
    if (!set)
        return false;
    block->barrier = barrier;
    block->exchange = exchange;
    block->fibre = set;
    set->used = dim[0] * dim[1] * dim[2];
    set->kernel = grid->kernel;
    set->block = block;
    set->params = grid->params;
    set->votes = 0;
    begin_threads(set, dim);
    do
        run_all(set);
    while (continue_waiting_lanes(set) || pass_barrier(set));
    return true;
}
