/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Several resources in one call: gr_map_many() maps all of them or none, and
 * gr_buffer_release_many() releases each that it can. A batch has one kind only, or others, too.
 */
#include "facts_batch.h"

#include <string.h>

#define LATE_MS 5

struct thing *batch[BATCH];
gr_resource *resources[BATCH];
gr_buffer *buffers[BATCH + 1];
gr_buffer *const untouched = (gr_buffer *)&batch;

/* ---- Steps ----------------------------------------------------------------------------------- */

static void put(unsigned i, struct thing *thing)
{
    batch[i] = thing;
    resources[i] = thing->resource;
}

static void put_kind(unsigned i, const struct kind *kind, unsigned flags)
{
    if (!kind_missing(kind, flags))
        put(i, thing_make(kind, flags));
}

void batch_make(struct thing *thing, bool mixed)
{
    put(0, thing);
    for (unsigned i = 1; i < BATCH; i++)
        put(i, thing_make(thing->kind, thing->flags));
    if (mixed) {
        put_kind(2, kind_named("interop image"), thing->flags);
        put_kind(3, kind_named("imported Vulkan buffer"), thing->flags);
    }
}

gr_status batch_map(void)
{
    for (unsigned i = 0; i < BATCH; i++)
        buffers[i] = untouched;
    return gr_map_many(resources, BATCH, fx.stream, NULL, buffers);
}

static void assert_mapped_all(bool is_mapped)
{
    for (unsigned i = 0; i < BATCH; i++)
        ck_assert_int_eq(gr_resource_get_info(resources[i])->mapped, is_mapped);
}

static void map_all(void)
{
    assert_ok(batch_map());
    assert_mapped_all(true);
    for (unsigned i = 0; i < BATCH; i++)
        ck_assert_ptr_eq(gr_buffer_get_info(buffers[i])->stream, fx.stream);
}

void batch_cuda_write(unsigned seed)
{
    for (unsigned i = 0; i < BATCH; i++)
        thing_cuda_write(batch[i], buffers[i], seed + i);
}

const char *batch_differs(unsigned seed)
{
    const char *difference = NULL;
    for (unsigned i = 0; i < BATCH && !difference; i++)
        difference = thing_differs(batch[i], seed + i);
    return difference;
}

static void assert_all(unsigned seed)
{
    assert_no_difference(batch_differs(seed));
}

static void release_all(CUstream stream)
{
    assert_ok(gr_buffer_release_many(buffers, BATCH, stream, NULL));
    assert_mapped_all(false);
    for (unsigned i = 0; i < BATCH; i++)
        ck_assert_ptr_null(buffers[i]);
}

static void fill_all(unsigned seed)
{
    map_all();
    batch_cuda_write(seed);
    release_all(fx.stream);
}

GROUP("batches", add_kinds_case)
TAG("alone")

FACT(cuda_reads_the_bytes_of_a_batch, _i / 2 ? GR_READ_ONLY : GR_READ_WRITE, 4)
{
    batch_make(thing, _i % 2);
    for (unsigned frame = 0; frame < 3; frame++) {
        for (unsigned i = 0; i < BATCH; i++)
            thing_write(batch[i], BATCH * frame + i);
        map_all();
        for (unsigned i = 0; i < BATCH; i++)
            assert_thing_in_cuda(batch[i], buffers[i], BATCH * frame + i);
        release_all(GR_STREAM_OF_MAP);
        assert_all(BATCH * frame);
    }
}

/* On the stream of the map, and on another one after late work. */
FACT(the_graphics_api_reads_the_bytes_of_a_batch, writing[_i / 2], 4)
{
    batch_make(thing, _i % 2);
    for (unsigned frame = 0; frame < 4; frame++) {
        map_all();
        if (frame % 2)
            gate_open_after(gate_put(fx.stream), LATE_MS);
        batch_cuda_write(BATCH * frame);
        release_all(frame % 2 ? fx.other : fx.stream);
        assert_all(BATCH * frame);
    }
}

FACT(stream_of_map_releases_each_buffer_on_its_own_stream, writing[_i / 2], 4)
{
    batch_make(thing, _i % 2);
    gate_open_after(gate_put(fx.other), LATE_MS);
    gate_open_after(gate_put(fx.stream), 2 * LATE_MS);
    for (unsigned i = 0; i < BATCH; i++)
        buffers[i] = thing_map_on(batch[i], i % 3 ? fx.stream : fx.other);
    batch_cuda_write(1);
    release_all(GR_STREAM_OF_MAP);
    assert_all(1);
}

/* ---- Members that cannot be mapped ----------------------------------------------------------- */

enum bad { MISSING, TWICE, CLOSED, MAPPED, FREED, BADS };

static const struct {
    gr_status status;
    const char *says;
} refusals[BADS] = {{GR_ERR_INVALID_VALUE, "NULL"},
                    {GR_ERR_INVALID_VALUE, "listed twice"},
                    {GR_ERR_STATE, "closed"},
                    {GR_ERR_STATE, "already mapped"},
                    {GR_ERR_INVALID_VALUE, "not a live resource"}};

/* The map of the list, which is bad at one position, leaves the other members as they were. */
static void assert_none_mapped(gr_resource *const list[BATCH], unsigned at, gr_status status,
                               const char *says)
{
    for (unsigned i = 0; i < BATCH; i++)
        buffers[i] = untouched;
    assert_fails(gr_map_many(list, BATCH, fx.stream, NULL, buffers), status, 0, says);
    for (unsigned i = 0; i < BATCH; i++) {
        ck_assert_ptr_eq(buffers[i], untouched);
        if (i == at)
            continue;
        ck_assert(!gr_resource_get_info(resources[i])->mapped);
        assert_thing(batch[i], i);
    }
}

/*
 * The batch was mapped before, so that the library has checked its members once. Afterwards the
 * member at that position is bad, and then a good one again.
 */
static void check_bad(enum bad bad, unsigned at)
{
    gr_resource *list[BATCH];
    memcpy(list, resources, sizeof(list));
    list[at] = bad == MISSING ? NULL : bad == TWICE ? list[(at + 1) % BATCH] : list[at];
    GR_AUTO(gr_buffer) *held = bad == MAPPED ? thing_map_on(batch[at], fx.other) : NULL;
    if (bad == CLOSED)
        assert_ok(gr_resource_close(list[at], fx.stream));
    if (bad == FREED)
        thing_free(batch[at]);
    assert_none_mapped(list, at, refusals[bad].status, refusals[bad].says);
    if (held)
        thing_cuda_write_on(batch[at], held, at, fx.other);
    else if (bad == CLOSED || bad == FREED)
        put(at, thing_make(batch[at]->kind, batch[at]->flags));
}

FACT(one_bad_member_prevents_all_maps, writing[_i % 2], 6)
{
    static const unsigned positions[] = {0, BATCH / 2, BATCH - 1};
    batch_make(thing, _i / 3);
    for (unsigned bad = 0; bad < BADS; bad++) {
        fill_all(0);
        check_bad(bad, positions[_i % 3]);
    }
    fill_all(20);
    assert_all(20);
    gr_resource *longer[BATCH + 1] = {NULL};
    memcpy(longer, resources, sizeof(resources));
    assert_invalid(gr_map_many(longer, BATCH + 1, fx.stream, NULL, buffers), "NULL");
}

static const char *kept_by_grinterop(const struct kind *kind)
{
    return kind->survives && kind->api == GR_GRAPHICS_OPENGL
               ? NULL
               : "the application has no OpenGL object to delete";
}

FACT_UNLESS(kept_by_grinterop, one_deleted_object_prevents_all_maps, writing[_i], 2)
{
    batch_make(thing, true);
    fill_all(0);
    batch[2]->kind->end(batch[2]);
    batch[2]->image.name = 0; /* a later object may get the name */
    assert_none_mapped(resources, 2, GR_ERR_STATE, "deleted");
    put(2, thing_make(thing->kind, thing->flags));
    fill_all(20);
    assert_all(20);
}

/* The third member belongs to another CUDA context, or to another OpenGL context. */
FACT(a_member_of_another_context_prevents_all_maps, GR_WRITE_DISCARD, 2)
{
    batch_make(thing, false);
    fill_all(0);
    CUcontext second = _i % 2 ? NULL : new_context(NULL);
    gr_egl *egl = _i % 2 ? must_make(gr_egl_create(NULL)) : NULL;
    resources[2] = must_register(gl_buffer_filled(64, 0));
    CU(CtxSetCurrent(fx.context));
    assert_ok(gr_egl_make_current(fx.egl));
    assert_none_mapped(resources, 2, _i % 2 ? GR_ERR_GL : GR_ERR_INVALID_VALUE,
                       _i % 2 ? "another context" : "different CUDA contexts");
    ck_assert(!gr_resource_get_info(resources[2])->mapped);
    assert_ok(gr_egl_make_current(egl ? egl : fx.egl));
    gr_resource_free(resources[2]);
    gr_egl_free(egl);
    assert_ok(gr_egl_make_current(fx.egl));
    if (second)
        CU(CtxDestroy(second));
    put(2, batch[2]);
    fill_all(20);
    assert_all(20);
}

/* ---- Lists of buffers ------------------------------------------------------------------------ */

/* In another order, with NULLs, and with a buffer whose mapping has ended. */
FACT(release_many_releases_each_buffer_in_the_list, writing[_i / 2], 4)
{
    batch_make(thing, _i % 2);
    map_all();
    batch_cuda_write(1);
    assert_ok(gr_resource_unmap(resources[1], GR_STREAM_OF_MAP));
    gr_buffer *list[] = {NULL, buffers[3], buffers[1], NULL, NULL, buffers[0], NULL};
    gr_buffer *released = buffers[0];
    assert_ok(gr_buffer_release_many(list, 7, fx.stream, NULL));
    for (unsigned i = 0; i < 7; i++)
        ck_assert_ptr_null(list[i]);
    assert_ok(gr_buffer_release_many(list, 7, fx.stream, NULL));
    gr_buffer *rest[] = {released, buffers[2]};
    assert_fails(gr_buffer_release_many(rest, 2, fx.stream, NULL), GR_ERR_PARTIAL, 0,
                 "released already");
    ck_assert(rest[0] == released && !rest[1]);
    assert_mapped_all(false);
    assert_all(1);
}

FACT_UNLESS(lost_by_free, release_many_ends_freed_resources, GR_WRITE_DISCARD, 2)
{
    void *handles[BATCH];
    batch_make(thing, _i % 2);
    map_all();
    for (unsigned i = 0; i < BATCH; i++) {
        handles[i] = driver_handle(resources[i]);
        thing_free(batch[i]);
    }
    batch_cuda_write(1);
    assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
    for (unsigned i = 0; i < BATCH; i++)
        assert_unregistered(handles[i]);
    assert_all(1);
}

/* One driver call could release buffers 0 and 1, but not buffer 2, whose stream differs. */
FACT(a_buffer_that_is_listed_twice_is_refused, GR_WRITE_DISCARD, 3)
{
    static const int lists[][4] = {{0, 0, -1, -1}, {0, 1, 0, -1}, {0, 2, 0, -1},
                                   {0, -1, 0, 2},  {2, 1, 1, 0},  {0, 1, 2, 2}};
    const CUstream stream = _i == 0 ? fx.stream : GR_STREAM_OF_MAP;
    CUevent event;
    CU(EventCreate(&event, 0));
    const gr_release_options options = GR_INIT(gr_release_options, .wait_event = event);
    batch_make(thing, false);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    buffers[2] = thing_map_on(batch[2], fx.other);
    for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
        gr_buffer *list[4], *before[4];
        for (int i = 0; i < 4; i++)
            before[i] = list[i] = lists[k][i] < 0 ? NULL : buffers[lists[k][i]];
        assert_invalid(gr_buffer_release_many(list, 4, stream, _i == 2 ? &options : NULL),
                       "listed twice");
        ck_assert_mem_eq(list, before, sizeof(list));
        for (int i = 0; i < 3; i++)
            ck_assert(gr_resource_get_info(resources[i])->mapped);
    }
    /* The same for a buffer whose mapping has ended. */
    assert_ok(gr_resource_unmap(resources[0], fx.stream));
    gr_buffer *ended[] = {buffers[0], buffers[0]};
    assert_invalid(gr_buffer_release_many(ended, 2, stream, NULL), "listed twice");
    assert_ok(gr_buffer_release_many(buffers, 3, GR_STREAM_OF_MAP, NULL));
    CU(EventDestroy(event));
}

/* More than one driver call takes. The sizes are all different, most of them odd. */
TEST(a_list_of_1500_buffers_is_mapped)
{
    enum { MOST = 1500 };
    static GLuint names[MOST];
    static gr_resource *list[MOST];
    static gr_buffer *mapped[MOST];
    for (size_t i = 0; i < MOST; i++)
        list[i] = must_register(names[i] = gl_buffer_filled(1 + i * 37, 0));
    for (int frame = 1; frame < 3; frame++) {
        assert_ok(gr_map_many(list, MOST, fx.stream, NULL, mapped));
        for (size_t i = 0; i < MOST; i++) {
            ck_assert_uint_eq(gr_buffer_size(mapped[i]), 1 + i * 37);
            cuda_fill(mapped[i], (int)i * 7 + frame);
        }
        assert_ok(gr_buffer_release_many(mapped, MOST, fx.stream, NULL));
        for (size_t i = 0; i < MOST; i++)
            assert_gl_bytes(names[i], 1 + i * 37, (int)i * 7 + frame);
    }
    free_resources(list, MOST);
}
