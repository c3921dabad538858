/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls that end mappings and resources. */
#include "calls.h"

#include "outside.h"

static bool has_ended(gr_status status)
{
    return status == GR_OK || status == GR_ERR_PARTIAL;
}

static bool is_tensor_usable(const struct world *w, const struct buffer *b)
{
    return !b || b->life == LIVE || is_stale_buffer(w, b);
}

/* The errors that may occur when this buffer is released on that stream. */
static unsigned release_may(const struct world *w, const struct buffer *b, int choice)
{
    if (b->life != LIVE)
        return MAY(GR_ERR_INVALID_VALUE);
    return b->resource->mapped == b ? end_may(w, b->resource, choice) : 0;
}

bool run_gr_buffer_release(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    if (!is_tensor_usable(w, b))
        return false;
    gr_status status = gr_buffer_release(b ? b->it : NULL);
    judge(w, status, b ? release_may(w, b, STREAM_OF_MAP) : 0);
    if (b && has_ended(status))
        is_released(w, b);
    return true;
}

bool run_gr_buffer_release_later(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    if (!is_tensor_usable(w, b))
        return false;
    bool wrong = b && b->life != LIVE;
    /* a lost frame becomes the last error, unless the release is deferred */
    const unsigned lost = b && b->resource->mapped == b ? loss_may(b->resource) : 0;
    gr_clear_error();
    gr_buffer_release_later(b ? b->it : NULL);
    judge(w, gr_last_error()->status,
          wrong  ? MAY(GR_ERR_INVALID_VALUE)
          : lost ? lost | MAY(GR_OK)
                 : 0);
    if (b && !wrong)
        note_set_aside(w, b);
    return true;
}

/* ---- Many ------------------------------------------------------------------------------------ */

#define MANY 3

static bool many_are_valid(struct world *w, const int *a)
{
    for (int i = 0; i < MANY; i++) {
        struct buffer *b = buffer_at(w, a[i]);
        if (!is_tensor_usable(w, b))
            return false;
        for (int k = 0; k < i; k++)
            if (b && buffer_at(w, a[k]) && b->it == buffer_at(w, a[k])->it)
                return false;
    }
    return is_stream_valid(w, a[MANY]);
}

/* Combines the errors of all entries: GR_ERR_PARTIAL if only some of the buffers were released. */
static unsigned many_may(const unsigned may[], const struct buffer *const list[])
{
    unsigned all = 0;
    bool some = false;
    for (int i = 0; i < MANY; i++) {
        all |= may[i];
        some = some || (list[i] && !may[i]);
    }
    return all && some ? MAY(GR_ERR_PARTIAL) : all;
}

bool run_gr_buffer_release_many(struct world *w, const int *a)
{
    struct buffer *list[MANY];
    gr_buffer *given[MANY];
    unsigned may[MANY] = {0};
    if (!many_are_valid(w, a))
        return false;
    bool refused = a[MANY] == STREAM_NULL || a[MANY] == STREAM_NONE;
    for (int i = 0; i < MANY; i++) {
        list[i] = buffer_at(w, a[i]);
        given[i] = list[i] ? list[i]->it : NULL;
        if (list[i])
            may[i] = release_may(w, list[i], a[MANY]);
    }
    gr_status status = gr_buffer_release_many(given, MANY, stream_at(w, a[MANY]), NULL);
    judge(w, status,
          refused ? MAY(GR_ERR_INVALID_VALUE) : many_may(may, (const struct buffer **)list));
    for (int i = 0; i < MANY; i++) {
        bool ends = list[i] && !refused && (!may[i] || may[i] == MAY(GR_ERR_PARTIAL));
        if (!list[i] || may[i] & MAY(GR_ERR_PARTIAL))
            ends = list[i] && !given[i];
        must(w, !list[i] || (given[i] == NULL) == ends);
        if (ends)
            is_released(w, list[i]);
    }
    return true;
}

/* ---- Resources ------------------------------------------------------------------------------- */

static bool can_query(const struct world *w, const struct resource *r)
{
    return !r || r->life == LIVE || is_stale_resource(w, r);
}

bool run_gr_resource_unmap(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (!can_query(w, r) || !is_stream_valid(w, a[1]))
        return false;
    collect_first(w, r);
    unsigned may = resource_may(r);
    if (!may)
        may =
            /*
             * GR_ERR_STATE is also right for a slot of a ring: the ring has mapped the slot, not
             * the program.
             */
            end_may(w, r, a[1]) | (r->mapped ? 0 : MAY(GR_ERR_STATE));
    if (a[1] == STREAM_NULL || a[1] == STREAM_NONE)
        may |= MAY(GR_ERR_INVALID_VALUE);
    gr_status status = gr_resource_unmap(handle_of(r), stream_at(w, a[1]));
    judge(w, status, may);
    if (has_ended(status))
        is_unmapped(w, r);
    return true;
}

/*
 * The errors of a close. Closing an unmapped resource uses no stream, so the call accepts any
 * stream except NULL and GR_STREAM_NONE.
 */
static unsigned close_may(const struct world *w, const struct resource *r, int choice)
{
    bool none = choice == STREAM_NULL || choice == STREAM_NONE;
    unsigned may = resource_may(r);
    if (may)
        return may;
    may = none ? MAY(GR_ERR_INVALID_VALUE) : 0;
    if (r->closed)
        return may;
    may |= r->ring ? MAY(GR_ERR_STATE) : 0;
    if (r->mapped)
        return may | end_may(w, r, choice);
    return may | context_may(w, r) | (r->gone ? MAY(GR_ERR_PARTIAL) : 0);
}

bool run_gr_resource_close(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (!can_query(w, r) || !is_stream_valid(w, a[1]))
        return false;
    collect_first(w, r);
    wait_for_vulkan(w, r);
    unsigned may = close_may(w, r, a[1]);
    gr_status status = gr_resource_close(handle_of(r), stream_at(w, a[1]));
    judge(w, status, may);
    if (!has_ended(status)) {
        maybe_collected(w);
        return true;
    }
    bool was_open = !r->closed;
    is_unmapped(w, r);
    submit_is_left(r);
    r->closed = true;
    if (was_open && r->object->context != ANY_CONTEXT)
        collect_later(w);
    maybe_collected(w);
    return true;
}

bool run_gr_resource_free(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (!can_query(w, r))
        return false;
    collect_first(w, r);
    wait_for_vulkan(w, r);
    gr_clear_error();
    gr_resource_free(handle_of(r));
    bool wrong = r && r->life != LIVE;
    judge(w, gr_last_error()->status, wrong ? MAY(GR_ERR_INVALID_VALUE) : 0);
    if (r && !wrong)
        note_release(w, r);
    maybe_collected(w);
    return true;
}

/*
 * A wait without timeout ends soon: the work in the stream is short and never waits for this
 * thread.
 */
bool run_gr_resource_wait(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (r && (r->life != LIVE || r->gone || r->ring))
        return false;
    collect_first(w, r);
    if (r && r->last_may_be_gone && !(w->software && w->alone))
        return false;
    bool looks = a[1] == 0;
    unsigned may = r && (r->mapped || r->closed) ? MAY(GR_ERR_STATE) : resource_may(r);
    if (r && !may && looks)
        may = MAY(GR_OK) | MAY(GR_ERR_NOT_READY);
    gr_status status = gr_resource_wait(handle_of(r), looks ? 0 : GR_WAIT_FOREVER);
    if (r && r->last_may_be_gone && status == GR_ERR_CUDA)
        return true;
    judge(w, status, may);
    return true;
}
