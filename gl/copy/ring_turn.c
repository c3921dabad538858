/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/copy/ring_turn.h"

#include "gl/copy/objects.h"
#include "gl/copy/pieces.h"
#include "lib/base/error.h"

static struct gl_copy *copy_of(const gr_resource *resource)
{
    return ((const struct gl_resource *)resource)->copy;
}

/* ---- OpenGL acquires ------------------------------------------------------------------------- */

/* Whether to wait for each piece of a large buffer separately, just before copying the piece. */
static bool waits_per_piece(const gr_resource *resource)
{
    return gl_pieces_of(copy_of(resource), resource->size).count > 1;
}

/* Waits for the data. The checks that can fail come before any copy. */
static gr_status wait_for_bytes(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (copy_of(resources[i])->owed)
            GR_TRY(gl_copy_check_unlocked(resources[i], "acquire"));
    for (size_t i = 0; i < n; i++)
        if (copy_of(resources[i])->owed && !waits_per_piece(resources[i]))
            GR_TRY(gl_copy_wait(resources[i]->sync.work.event, resources[i]));
    return GR_OK;
}

static bool some_are_owed(gr_resource *const resources[], size_t n)
{
    size_t i = 0;
    while (i < n && !copy_of(resources[i])->owed)
        i++;
    return i < n;
}

gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n)
{
    bool pushed;
    if (!some_are_owed(resources, n))
        return GR_OK;
    GR_TRY(gr_context_enter(&resources[0]->context, &pushed, "OpenGL's turn"));
    gr_status status = wait_for_bytes(resources, n);
    if (status == GR_OK)
        status = gl_copy_write_objects(resources, n);
    gr_context_leave(pushed);
    return status;
}

/* ---- OpenGL releases ------------------------------------------------------------------------- */

static bool is_fetched_ahead(const gr_resource *resource)
{
    return !gr_resource_writes(resource) && copy_of(resource)->staging.bytes;
}

/* Makes the same checks as a map that reads. */
static gr_status check(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_fetched_ahead(resources[i]))
            continue;
        GR_TRY(gl_copy_check_storage(resources + i, 1, "hand-over"));
        GR_TRY(gl_copy_check_unlocked(resources[i], "hand-over"));
    }
    return GR_OK;
}

/*
 * Selects the half that no stream reads any more. Data that was fetched but never read may be
 * overwritten.
 */
static gr_status select_half(const gr_resource *resource)
{
    struct gl_copy *copy = copy_of(resource);
    if (!is_fetched_ahead(resource) || copy->fetched)
        return GR_OK;
    GR_TRY(gl_copy_wait(copy->passed[copy->half ^ 1], resource));
    copy->half ^= 1;
    return GR_OK;
}

gr_status gl_copy_end_use(gr_resource *const resources[], size_t n)
{
    bool pushed;
    GR_TRY(check(resources, n));
    GR_TRY(gr_context_enter(&resources[0]->context, &pushed, "The end of OpenGL's turn"));
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = select_half(resources[i]);
    gr_context_leave(pushed);
    return status == GR_OK ? gl_copy_fetch_ahead(resources, n) : status;
}
