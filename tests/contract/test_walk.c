/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A random walk over all calls on resources and buffers, in two OpenGL contexts and without a
 * context, with valid and invalid arguments. A model predicts the possible results of each call.
 * Neither the CUDA driver nor OpenGL may report an error: grinterop must detect each mistake first.
 */
#define _GNU_SOURCE
#include "tests/drivers/fault_driver.h"
#include "tests/support/random_walk.h"
#include "tests/support/usable.h"

#include <stdint.h>

#define STEPS 20000
#ifndef SEED
#define SEED 20261120u
#endif
#define CONTEXTS  2
#define NAMES     3 /* buffers of each context */
#define RESOURCES 8
#define MAPPINGS  12
#define MOST_MANY 4
#define NO_VALUE  -1

/* ---- The model ------------------------------------------------------------------------------- */

struct name {
    GLuint name;
    int context;
    size_t size;
    int mapped;    /* the number of resources that map the buffer now */
    bool disputed; /* several resources map the buffer, so its bytes are undefined */
    int value;     /* the value of all bytes, or NO_VALUE */
};

struct resource {
    gr_resource *it; /* NULL: the entry is free; not used after a free */
    struct name *name;
    size_t size; /* the size of the storage at the registration */
    unsigned flags;
    bool held, closed;
    int out; /* unreleased buffers of the resource */
    struct mapping *mapped;
};

struct mapping {
    gr_buffer *it; /* NULL: the entry is free */
    struct resource *resource;
    CUstream stream;
};

static gr_egl *contexts[CONTEXTS];
static struct name names[CONTEXTS * NAMES];
static struct resource resources[RESOURCES];
static struct mapping mappings[MAPPINGS];
static int current; /* the index of the current context, or CONTEXTS if no context is current */
static int step;
static const char *doing;

/* Counts of the current kind of step: calls that succeeded and calls that failed. */
static int uncounted[2], *counted = uncounted;

#define check(condition)                                                                           \
    ck_assert_msg(condition, "seed %u, step %d, %s: not so: %s", SEED, step, doing, #condition)

/* The possible results of a call, one bit per error class; 0 means that the call must succeed. */
#define MAY(status) (1u << (status))

/* Returns whether the call succeeded. */
static bool expect(gr_status got, unsigned may)
{
    bool good = may == 0 ? got == GR_OK : got != GR_OK && (may & MAY(got)) != 0;
    ck_assert_msg(good, "seed %u, step %d, %s: got %s, may 0x%x; %s", SEED, step, doing,
                  gr_status_name(got), may, error_text());
    counted[got != GR_OK]++;
    return got == GR_OK;
}

static gr_status status_of(const void *made)
{
    return made ? GR_OK : gr_last_error()->status;
}

/* ---- Choices --------------------------------------------------------------------------------- */

static uint32_t state = SEED;

static unsigned pick(unsigned n)
{
    return walk_random(&state, n);
}

/* Invalid streams are rare, so that the walk makes progress. */
static CUstream pick_stream(bool of_map)
{
    unsigned choice = pick(16);
    if (choice == 0)
        return NULL;
    if (choice <= 3)
        return of_map || pick(4) == 0 ? GR_STREAM_OF_MAP : fx.other;
    if (choice <= 5)
        return choice == 4 ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
    return pick(2) ? fx.stream : fx.other;
}

static unsigned pick_flags(void)
{
    static const unsigned bad[] = {3, 4, 8, 5, 16, ~0u};
    return pick(8) == 0 ? bad[pick(6)] : pick(3);
}

static struct resource *pick_resource(void)
{
    struct resource *r = &resources[pick(RESOURCES)];
    return r->held ? r : NULL;
}

static struct resource *free_resource(void)
{
    for (int i = 0; i < RESOURCES; i++)
        if (!resources[i].it)
            return &resources[i];
    return NULL;
}

/* Skips `others` free mappings and returns the next free one, or NULL if there is none. */
static struct mapping *free_mapping(int others)
{
    for (int i = 0; i < MAPPINGS; i++)
        if (!mappings[i].it && others-- == 0)
            return &mappings[i];
    return NULL;
}

/* ---- Possible results of a call, and the effects of success ---------------------------------- */

static unsigned stream_may(CUstream stream, bool of_map)
{
    return !stream || (stream == GR_STREAM_OF_MAP && !of_map) ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

static unsigned context_may(const struct resource *r)
{
    return r->name->context != current ? MAY(GR_ERR_GL) : 0;
}

static unsigned register_may(const struct name *name, unsigned flags)
{
    bool bad = flags > GR_WRITE_DISCARD || (current != CONTEXTS && name->context != current);
    return (bad ? MAY(GR_ERR_INVALID_VALUE) : 0) | (current == CONTEXTS ? MAY(GR_ERR_GL) : 0);
}

static unsigned map_may(const struct resource *r)
{
    bool wrong = r->closed || r->mapped || r->size != r->name->size;
    return (wrong ? MAY(GR_ERR_STATE) : 0) | context_may(r);
}

static void forget_if_ended(struct resource *r)
{
    if (!r->held && !r->mapped)
        r->closed = true;
    if (!r->held && r->out == 0)
        *r = (struct resource){0};
}

static void is_mapped_now(struct resource *r, gr_buffer *buffer, CUstream stream)
{
    struct mapping *m = free_mapping(0);
    *m = (struct mapping){buffer, r, stream};
    r->mapped = m;
    r->out++;
    if (r->name->mapped++ > 0)
        r->name->disputed = true;
    if (r->flags == GR_WRITE_DISCARD || r->name->disputed)
        r->name->value = NO_VALUE;
}

static void is_unmapped_now(struct resource *r)
{
    if (!r->mapped)
        return;
    r->mapped = NULL;
    struct name *name = r->name;
    name->disputed = --name->mapped > 0 && name->disputed;
    if (name->mapped == 0 && name->value != NO_VALUE && name->context == current)
        assert_gl_bytes(name->name, name->size, name->value);
}

static void is_released_now(struct mapping *m)
{
    struct resource *r = m->resource;
    if (r->mapped == m)
        is_unmapped_now(r);
    *m = (struct mapping){0};
    r->out--;
    forget_if_ended(r);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_register(void)
{
    struct name *name = &names[pick(CONTEXTS * NAMES)];
    struct resource *slot = free_resource();
    unsigned flags = pick_flags();
    if (!slot)
        return;
    gr_resource *made = gr_from_gl_buffer(name->name, flags);
    if (expect(status_of(made), register_may(name, flags)))
        *slot = (struct resource){
            .it = made, .name = name, .size = name->size, .flags = flags, .held = true};
}

static void step_map_on_entry(void)
{
    struct name *name = &names[pick(CONTEXTS * NAMES)];
    struct resource *slot = free_resource();
    unsigned flags = pick_flags();
    CUstream stream = pick_stream(false);
    if (!slot || !free_mapping(0))
        return;
    gr_buffer *made = gr_map_gl_buffer(name->name, flags, stream);
    if (!expect(status_of(made), register_may(name, flags) | stream_may(stream, false)))
        return;
    /* No call gets this resource, so its pointer only has to be non-NULL. */
    *slot = (struct resource){
        .it = (gr_resource *)slot, .name = name, .size = name->size, .flags = flags};
    is_mapped_now(slot, made, stream);
}

static void step_map(void)
{
    struct resource *r = pick_resource();
    CUstream stream = pick_stream(false);
    if (!r || !free_mapping(0))
        return;
    gr_buffer *made = gr_map(r->it, stream);
    if (expect(status_of(made), map_may(r) | stream_may(stream, false)))
        is_mapped_now(r, made, stream);
}

static void step_map_many(void)
{
    struct resource *picked[MOST_MANY];
    gr_resource *list[MOST_MANY];
    gr_buffer *out[MOST_MANY] = {NULL};
    unsigned n = 1 + pick(MOST_MANY);
    CUstream stream = pick_stream(false);
    unsigned may = stream_may(stream, false);
    for (unsigned i = 0; i < n; i++) {
        picked[i] = pick_resource();
        list[i] = picked[i] ? picked[i]->it : NULL;
        may |= picked[i] ? map_may(picked[i]) : MAY(GR_ERR_INVALID_VALUE);
        for (unsigned k = 0; k < i; k++)
            if (picked[k] == picked[i])
                may |= MAY(GR_ERR_INVALID_VALUE);
    }
    if (!free_mapping(MOST_MANY - 1))
        return;
    bool good = expect(gr_map_many(list, n, stream, NULL, out), may);
    for (unsigned i = 0; i < n; i++) {
        check((out[i] != NULL) == good);
        if (good)
            is_mapped_now(picked[i], out[i], stream);
    }
}

static unsigned release_may(const struct mapping *m)
{
    return m->resource->mapped == m ? context_may(m->resource) : 0;
}

static void step_release(void)
{
    struct mapping *m = &mappings[pick(MAPPINGS)];
    CUstream stream = pick_stream(true);
    if (!m->it)
        return;
    bool plain = pick(2);
    unsigned may = release_may(m) | (plain ? 0 : stream_may(stream, true));
    if (expect(plain ? gr_buffer_release(m->it) : release_on(m->it, stream), may))
        is_released_now(m);
}

static void step_release_many(void)
{
    gr_buffer *list[MAPPINGS] = {NULL};
    bool ends[MAPPINGS] = {false}, stays[MAPPINGS] = {false}, some = false;
    CUstream stream = pick_stream(true);
    unsigned may = stream_may(stream, true);
    for (int i = 0; i < MAPPINGS; i++) {
        if (pick(3) != 0 || !mappings[i].it)
            continue;
        list[i] = mappings[i].it;
        stays[i] = !stream || release_may(&mappings[i]) != 0;
        ends[i] = !stays[i];
        may |= release_may(&mappings[i]);
        some = some || ends[i];
    }
    if (may && some)
        may = MAY(GR_ERR_PARTIAL);
    expect(gr_buffer_release_many(list, MAPPINGS, stream, NULL), may);
    for (int i = 0; i < MAPPINGS; i++) {
        check((list[i] != NULL) == stays[i]);
        if (ends[i])
            is_released_now(&mappings[i]);
    }
}

static void step_unmap(void)
{
    struct resource *r = pick_resource();
    CUstream stream = pick_stream(true);
    if (!r)
        return;
    unsigned may = stream_may(stream, true) | context_may(r) | (r->mapped ? 0 : MAY(GR_ERR_STATE));
    if (expect(gr_resource_unmap(r->it, stream), may))
        is_unmapped_now(r);
}

static void step_close(void)
{
    struct resource *r = pick_resource();
    CUstream stream = pick_stream(true);
    if (!r || (stream == GR_STREAM_OF_MAP && !r->mapped))
        return;
    unsigned may = stream_may(stream, true) | (r->closed ? 0 : context_may(r));
    if (!expect(gr_resource_close(r->it, stream), may))
        return;
    is_unmapped_now(r);
    r->closed = true;
}

static void step_free(void)
{
    struct resource *r = pick_resource();
    if (!r)
        return;
    gr_resource_free(r->it);
    r->held = false;
    forget_if_ended(r);
}

static void step_make_current(void)
{
    current = pick(CONTEXTS * 4) ? (int)pick(CONTEXTS) : CONTEXTS;
    expect(gr_egl_make_current(current < CONTEXTS ? contexts[current] : NULL), 0);
}

static void step_write(void)
{
    static unsigned char value;
    struct resource *r = &resources[pick(RESOURCES)];
    if (!r->it || !r->mapped || r->flags == GR_READ_ONLY)
        return;
    /* Only the stream of the map is ordered after the map. */
    CUstream stream = r->mapped->stream;
    CU(MemsetD8Async(gr_buffer_ptr(r->mapped->it), ++value, r->size, stream));
    CU(StreamSynchronize(stream));
    r->name->value = r->name->disputed ? NO_VALUE : value;
}

/*
 * The new size differs from that of every resource. OpenGL may not change a buffer that CUDA has
 * mapped.
 */
static void step_storage(void)
{
    static size_t next = USABLE_SIZE;
    struct name *name = &names[pick(CONTEXTS * NAMES)];
    if (name->context != current || name->mapped > 0 || pick(8) != 0)
        return;
    next += 4;
    glBindBuffer(GL_ARRAY_BUFFER, name->name);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)next, NULL, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    name->size = next;
    name->value = NO_VALUE;
}

/* ---- After each step ------------------------------------------------------------------------- */

static void check_resource(const struct resource *r)
{
    if (!r->held)
        return;
    char text[8];
    check(gr_resource_get_info(r->it)->mapped == (r->mapped != NULL));
    check(gr_resource_get_info(r->it)->closed == r->closed);
    check((!driver_handle(r->it)) == r->closed);
    check(gr_resource_describe(r->it, text, sizeof(text)) > 0);
}

static void check_all(void)
{
    for (int i = 0; i < RESOURCES; i++)
        check_resource(&resources[i]);
    for (int i = 0; i < MAPPINGS; i++) {
        const struct mapping *m = &mappings[i];
        bool live = m->it && m->resource->mapped == m;
        check((gr_buffer_ptr(m->it) != 0) == live);
        check(gr_buffer_size(m->it) == (live ? m->resource->size : 0));
        check(!m->it || gr_buffer_get_info(m->it)->stream == m->stream);
    }
    check(fault->all_refusals() == 0);
    check(current == CONTEXTS || glGetError() == GL_NO_ERROR);
}

static const struct walk_kind kinds[] = {
    {"register", 6, step_register}, {"map on entry", 3, step_map_on_entry},
    {"map", 12, step_map},          {"map many", 8, step_map_many},
    {"release", 12, step_release},  {"release many", 2, step_release_many},
    {"unmap", 4, step_unmap},       {"close", 2, step_close},
    {"free", 3, step_free},         {"make current", 5, step_make_current},
    {"write", 8, step_write},       {"storage", 2, step_storage},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static int counts[KINDS][2]; /* the number of calls of each kind that succeeded, and that failed */

static void take_step(void)
{
    size_t kind = walk_pick(kinds, KINDS, pick);
    doing = kinds[kind].name;
    counted = counts[kind];
    kinds[kind].run();
    check_all();
}

/* A walk in which nearly all calls fail, or nearly none, would test little. */
static void check_variety(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        const int good = counts[i][0], bad = counts[i][1];
        if (good + bad > 0)
            ck_assert_msg(good > 40 && (bad > 40 || kinds[i].run == step_make_current),
                          "%s: %d good, %d bad", kinds[i].name, good, bad);
    }
}

GROUP("walk", add_case)

/* The names differ between the contexts, so no name of one exists in the other. */
static void make_names(int context)
{
    GLuint made[CONTEXTS * NAMES];
    for (int i = 0; i < (context + 1) * NAMES; i++) {
        made[i] = gl_buffer_filled(USABLE_SIZE, i);
        if (i >= context * NAMES)
            names[i] =
                (struct name){.name = made[i], .context = context, .size = USABLE_SIZE, .value = i};
    }
    glDeleteBuffers(context * NAMES, made);
}

static void end_all(void)
{
    doing = "the end";
    counted = uncounted;
    for (current = 0; current < CONTEXTS; current++) {
        expect(gr_egl_make_current(contexts[current]), 0);
        for (int i = 0; i < MAPPINGS; i++)
            if (mappings[i].it && release_may(&mappings[i]) == 0) {
                expect(gr_buffer_release(mappings[i].it), 0);
                is_released_now(&mappings[i]);
            }
        for (int i = 0; i < RESOURCES; i++)
            if (resources[i].held && context_may(&resources[i]) == 0) {
                gr_resource_free(resources[i].it);
                resources[i] = (struct resource){0};
            }
        /* This call also ends the resources that were set aside in this context. */
        assert_ok(gr_buffer_release(
            gr_map_gl_buffer(names[current * NAMES].name, GR_READ_WRITE, fx.stream)));
    }
}

TEST(random_calls_return_the_predicted_results)
{
    contexts[0] = fx.egl;
    contexts[1] = must_make(gr_egl_create(NULL));
    for (current = CONTEXTS - 1; current >= 0; current--) {
        expect(gr_egl_make_current(contexts[current]), 0);
        make_names(current);
    }
    current = 0;
    fault->reset();
    for (step = 0; step < STEPS; step++)
        take_step();
    end_all();
    ck_assert_uint_eq(fault->calls("cuGraphicsGLRegisterBuffer"),
                      fault->calls("cuGraphicsUnregisterResource"));
    check_variety();
    ck_assert_uint_eq(fault->all_refusals(), 0);
    gr_egl_free(contexts[1]);
}

START(fault_control_start())
