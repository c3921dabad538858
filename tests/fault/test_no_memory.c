/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory runs out inside grinterop: each allocation of a call fails in turn. The call must then
 * report GR_ERR_NO_MEMORY and change nothing, or succeed without that memory. test_api does this
 * for each function; here a call needs more than the valid call of test_api.
 */
#include "fault_calls.h"
#include "tests/gl/gl_parts_pretend.h"
#include "tests/support/shared_buffer.h"
#include "tests/support/usable.h"

#define SIZE USABLE_SIZE

static const char *no_faults; /* why allocations cannot be made to fail */
static bool have_all_failed;
static int failures;

static void begin_fault(void)
{
    gr_clear_error();
    fault_calls_arm(&(struct call_fault){.kind = CALL_MEMORY, .most = 100});
}

/* After the call, which may have `succeeded` without the memory. */
static bool end_fault(bool succeeded)
{
    have_all_failed = !fault_calls_disarm().function;
    ck_assert(succeeded || !have_all_failed);
    if (!succeeded) {
        assert_error(GR_ERR_NO_MEMORY, 0, "memory");
        failures++;
    }
    return succeeded;
}

/* Runs the attempt with another failing allocation each time, and at last with none. */
static void try_each(void (*attempt)(GLuint name), int least_failures)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    failures = 0;
    fault_calls_begin();
    do
        attempt(name);
    while (!have_all_failed);
    ck_assert_int_ge(failures, least_failures);
}

enum { IN_TURN = 4 }; /* the number of buffers that a resource has from the start */

/* Keeps buffers whose mappings have ended, so that the next map needs a new buffer. */
static void keep_all(gr_resource *resource, gr_buffer *kept[IN_TURN])
{
    for (int i = 0; i < IN_TURN; i++) {
        kept[i] = must_make(gr_map(resource, fx.stream));
        assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    }
}

static void end_all(gr_resource *resource, gr_buffer *kept[IN_TURN], GLuint name)
{
    assert_ok(gr_buffer_release_many(kept, IN_TURN, GR_STREAM_OF_MAP, NULL));
    assert_resource_usable(resource, name);
    gr_resource_free(resource);
}

static void try_map(GLuint name)
{
    gr_buffer *kept[IN_TURN];
    gr_resource *resource = must_register(name);
    keep_all(resource, kept);
    begin_fault();
    gr_buffer *next = gr_map(resource, fx.stream);
    bool made = end_fault(next);
    ck_assert_int_eq(gr_resource_get_info(resource)->mapped, made);
    assert_ok(gr_buffer_release(next));
    end_all(resource, kept, name);
}

/* gr_map_many() must map all resources or none, even if memory for the last one is missing. */
static void try_map_many(GLuint name)
{
    gr_resource *list[2] = {must_register(name), must_register(name)};
    gr_buffer *kept[IN_TURN], *others[IN_TURN], *out[2] = {NULL, NULL};
    keep_all(list[1], kept);
    begin_fault();
    bool made = end_fault(gr_map_many(list, 2, fx.stream, NULL, out) == GR_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(gr_resource_get_info(list[i])->mapped, made);
        ck_assert_int_eq(out[i] != NULL, made);
    }
    assert_ok(gr_buffer_release_many(out, 2, fx.stream, NULL));
    /* A failed map must not use up a buffer: none of the next maps allocates another one. */
    fault_calls_arm(&(struct call_fault){.kind = CALL_MEMORY, .place = 1});
    keep_all(list[0], others);
    ck_assert_ptr_null(fault_calls_disarm().function);
    end_all(list[0], others, name);
    end_all(list[1], kept, name);
}

static bool packed;

/* Creates a resource in a new context, which must allocate the memory for sharing. */
static void try_share(GLuint name)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED, .packed = packed);
    pretend_offsets(packed);
    gr_egl *egl = must_make(gr_egl_create(NULL));
    begin_fault();
    gr_resource *made = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options);
    end_fault(made);
    gr_resource_free(made);
    gr_egl_free(egl);
    assert_ok(gr_egl_make_current(fx.egl));
    pretend_offsets(false);
    assert_buffer_usable(name);
}

GROUP("no memory", add_case)

TEST_UNLESS(no_faults, a_map_without_memory_changes_nothing)
{
    try_each(try_map, 1);
}

TEST_UNLESS(no_faults, maps_at_once_without_memory_change_nothing)
{
    try_each(try_map_many, 1);
}

TEST_UNLESS(no_faults ? no_faults : shared_missing(), sharing_without_memory_changes_nothing, 2)
{
    packed = _i;
    try_each(try_share, packed ? 4 : 3);
}

START(no_faults = fault_calls_start(NULL))
