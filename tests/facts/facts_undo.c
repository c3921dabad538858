/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls in which a driver call fails: they change nothing, and can be repeated with the same
 * objects. Each driver call of a map and a release fails in turn.
 */
#include <string.h>

#include "facts_batch.h"
#include "tests/drivers/fault_driver.h"

#define MOST_FUNCTIONS 64

/* ---- Faults ---------------------------------------------------------------------------------- */

static const char *function; /* fails; NULL: calls are counted */
static unsigned long after;  /* the number of calls before the one that fails */
static int code;
static unsigned long counts[MOST_FUNCTIONS];

static void arm(void)
{
    fault->reset();
    if (function)
        ck_assert(fault->set(function, code, (long)after));
}

/*
 * Whether the call of the step may succeed all the same: without these answers it goes on, and it
 * finishes the work of a tensor that it cannot record.
 */
static bool may_succeed(void)
{
    static const char *const queries[] = {"cuCtxGetCurrent", "cuStreamGetCtx",
                                          "cuStreamIsCapturing"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(function, queries[i]) == 0)
            return true;
    return after > 0 && strcmp(function, "cuEventRecord") == 0;
}

/* Returns whether the call of the step has failed if it must, with the error of the driver. */
static bool disarm(gr_status status)
{
    const char *name;
    for (unsigned i = 0; !function && (name = fault->name(i)); i++)
        counts[i] = fault->calls(name);
    const bool failed = function && fault->calls(function) > after;
    fault->reset();
    if (status == GR_OK)
        return !failed || may_succeed();
    return function && gr_last_error()->code == code;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* A step returns what went wrong, or NULL. */

static unsigned seed; /* of the bytes that the batch has */

static const char *error_or(const char *text)
{
    return gr_last_error()->status ? gr_last_error()->message : text;
}

static bool are_mapped(bool is_mapped)
{
    for (unsigned i = 0; i < BATCH; i++)
        if (gr_resource_get_info(resources[i])->mapped != is_mapped)
            return false;
    return true;
}

/* CUDA writes other bytes to the mapped batch, or the graphics API to the batch. */
static void write_next(bool by_cuda)
{
    if (by_cuda == (batch[0]->flags == GR_READ_ONLY))
        return;
    seed = (seed + BATCH) % (THING_SEEDS - BATCH);
    if (by_cuda)
        batch_cuda_write(seed);
    for (unsigned i = 0; i < BATCH && !by_cuda; i++)
        thing_write(batch[i], seed + i);
}

/* `lost`: the bytes may be others. */
static const char *release_and_compare(bool lost)
{
    if (gr_buffer_release_many(buffers, BATCH, fx.stream, NULL) != GR_OK)
        return error_or("");
    if (!are_mapped(false))
        return "a member is still mapped";
    return lost ? NULL : batch_differs(seed);
}

static const char *map_step(void)
{
    write_next(false);
    arm();
    const gr_status status = batch_map();
    if (!disarm(status))
        return error_or("the error is lost");
    if (status != GR_OK) {
        for (unsigned i = 0; i < BATCH; i++)
            if (buffers[i] != untouched)
                return "the failed map has set a buffer";
        const char *difference = are_mapped(false) ? batch_differs(seed) : "a member is mapped";
        if (difference || batch_map() != GR_OK)
            return difference ? difference : error_or("");
    }
    for (unsigned i = 0; i < BATCH && batch[0]->flags != GR_WRITE_DISCARD; i++)
        if (thing_cuda_differs(batch[i], buffers[i], seed + i))
            return thing_cuda_differs(batch[i], buffers[i], seed + i);
    write_next(true);
    return release_and_compare(false);
}

/*
 * Whether the bytes may be lost: the driver has said that the work failed, which grinterop waited
 * for after it had ended the mapping.
 */
static bool is_lost(gr_status status)
{
    return status == GR_ERR_PARTIAL && strstr(function, "Query");
}

/* On another stream, and after a failure on that of the map. Members may have been released. */
static const char *release_step(void)
{
    if (batch_map() != GR_OK)
        return error_or("");
    write_next(true);
    arm();
    const gr_status status = gr_buffer_release_many(buffers, BATCH, fx.other, NULL);
    if (!disarm(status))
        return error_or("the error is lost");
    for (unsigned i = 0; i < BATCH; i++)
        if (gr_resource_get_info(resources[i])->mapped != (buffers[i] != NULL))
            return "a member is mapped without a buffer, or the reverse";
    return release_and_compare(is_lost(status));
}

/* Lets each driver call of the step fail. */
static void walk(const char *(*step)(void))
{
    function = NULL;
    assert_no_difference(step()); /* the first one may make more calls */
    assert_no_difference(step());
    for (unsigned i = 0; (function = fault->name(i)); i++)
        for (after = 0; after < counts[i]; after++) {
            gr_clear_error();
            const char *wrong = step();
            ck_assert_msg(!wrong, "call %lu of %s failed: %s", after, function, wrong);
        }
}

GROUP("undo", add_kinds_case)
TAG("alone")

static void walk_batch(struct thing *thing, const char *(*step)(void), int result)
{
    code = result;
    batch_make(thing, true);
    ck_assert_int_eq(batch_map(), GR_OK);
    write_next(true);
    assert_no_difference(release_and_compare(thing->flags == GR_READ_ONLY));
    walk(step);
}

FACT(a_failed_map_changes_nothing, _i ? GR_READ_ONLY : GR_READ_WRITE, 2)
{
    walk_batch(thing, map_step, CUDA_ERROR_UNKNOWN);
}

static const char *lost_by_undo(const struct kind *kind)
{
    return kind->transport == GR_TRANSPORT_INTEROP && !kind->is_image
               ? "an undo of the map in the driver loses the bytes"
               : NULL;
}

FACT_UNLESS(lost_by_undo, a_failed_map_keeps_bytes_that_it_would_discard, GR_WRITE_DISCARD)
{
    walk_batch(thing, map_step, CUDA_ERROR_UNKNOWN);
}

FACT(a_failed_release_can_be_repeated, writing[_i % 2], 4)
{
    walk_batch(thing, release_step, _i / 2 ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_UNKNOWN);
}
