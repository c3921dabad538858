/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The peer transport: OpenGL copies between its object and staging buffers on the GPU that draws.
 * CUDA computes there, or on another GPU, and then copies between its own memory and the staging
 * buffers. On the software driver, OpenGL draws on the first of two devices.
 */
#include "gl_peer.h"

#define MANY 5
#define HUGE 300 /* more resources than fit into one batch */

/* ---- Cases ----------------------------------------------------------------------------------- */

const gr_gl_options by_peer = {.struct_size = sizeof(gr_gl_options),
                               .transports = GR_TRANSPORT_PEER};

gr_resource *must_peer(GLuint name, unsigned flags)
{
    gr_resource *resource = must_make(gr_from_gl_buffer_with(name, flags, &by_peer));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_PEER);
    return resource;
}

static const struct map_call calls_of_two[] = {{COPY, 4}, {WAIT, 1}, {"cuStreamWaitEvent", 4}};
static const struct map_call calls_of_waits[] = {{COPY, 4}, {"cuStreamWaitEvent", 4}};
static const struct map_call calls_of_one[] = {{WAIT, 1}};

static const struct release_call ends_of_two[] = {{SIGNAL, 0, true},
                                                  {COPY, 0, false},
                                                  {RECORD, 0, false}},
                                 ends_of_waits[] = {{RECORD, 0, false},
                                                    {RECORD, 1, false},
                                                    {COPY, 0, false}},
                                 ends_of_one[] = {{SIGNAL, 0, true}};

#define CALLS(of, ends)                                                                            \
    .map_calls = (of), .map_call_count = sizeof(of) / sizeof(*(of)), .release_calls = (ends),      \
    .release_call_count = sizeof(ends) / sizeof(*(ends))
static struct transport two_gpus = {.make = must_peer,
                                    .missing = peer_missing,
                                    .first = WAIT,
                                    .last = SIGNAL,
                                    .in = COPY,
                                    .out = COPY,
                                    .end = "cuMemFree",
                                    .failed = "earlier work",
                                    .finds_storage = true,
                                    CALLS(calls_of_two, ends_of_two)},
                        with_waits = {.make = must_peer,
                                      .missing = peer_missing,
                                      .first = COPY,
                                      .in = COPY,
                                      .out = COPY,
                                      .end = "cuMemFree",
                                      .failed = "earlier work",
                                      .release_waits = true,
                                      .finds_storage = true,
                                      CALLS(calls_of_waits, ends_of_waits)},
                        one_gpu = {.make = must_peer,
                                   .missing = devices_differ,
                                   .first = WAIT,
                                   .failed = "earlier work",
                                   .finds_storage = true,
                                   CALLS(calls_of_one, ends_of_one)};

const struct transport *tested = &two_gpus;

bool case_crosses(void)
{
    return tested != &one_gpu;
}

bool case_signals(void)
{
    return tested != &with_waits;
}

static unsigned long alive; /* semaphores; those of failed cases stay */

static void begin(struct transport *transport, const char *const *denied)
{
    static bool started;
    if (!started)
        pretend_start();
    started = true;
    tested = transport;
    denied_extensions = denied;
    pretend_semaphores(true);
    alive = pretend_counts.alive;
    /* OpenGL waits for simulated semaphores in the thread */
    transport->release_waits = denied || gr_cuda_is_software();
    fault->reset();
}

static void begin_two(void)
{
    begin(&two_gpus, NULL);
}

static void begin_waits(void)
{
    begin(&with_waits, ways[2].denied);
}

static void begin_one(void)
{
    begin(&one_gpu, NULL);
}

/* All staging buffers and semaphores end with their resources. */
static void end(void)
{
    gates_open();
    fault->reset();
    denied_extensions = NULL;
    pretend_semaphores(false);
    if (!tested->missing()) {
        collect_sharing();
        ck_assert_uint_eq(pretend_counts.alive, alive);
    }
}

/* Creates and maps a resource once, because the driver keeps what that opens. */
static void use_peer(void)
{
    begin_two();
    gr_resource *resource = must_peer(gl_buffer_filled(64, 1), GR_READ_WRITE);
    assert_ok(gr_buffer_release(must_map(resource)));
    gr_resource_free(resource);
    end();
}

static void use_near(void)
{
    begin_one();
    if (!tested->missing()) {
        GR_AUTO(gr_resource) *resource = must_peer(gl_buffer_filled(64, 1), GR_READ_WRITE);
        assert_ok(gr_buffer_release(must_map(resource)));
    }
    end();
}

TCase *add_peer_case(Suite *suite, const char *name)
{
    return with_fixture(with_peer_device(add_image_case(suite, name), use_peer), begin_two, end);
}

TCase *add_waiting_peer_case(Suite *suite, const char *name)
{
    return with_fixture(with_peer_device(add_image_case(suite, name), use_peer), begin_waits, end);
}

TCase *add_near_case(Suite *suite, const char *name)
{
    return with_fixture(with_first_use(add_image_case(suite, name), use_near), begin_one, end);
}

make_case *const transport_cases[] = {EVERY_PEER, NULL};
make_case *const copying_cases[] = {TWO_GPUS, NULL};

GROUP("bytes between two GPUs", TWO_GPUS)

/* A map returns ordinary memory of the computing device. */
PEER_TEST(mapped_memory_belongs_to_the_computing_device)
{
    int owner = -1;
    GR_AUTO(gr_resource) *resource = must_peer(gl_buffer_pattern(SIZE, 1), GR_WRITE_DISCARD);
    gr_buffer *buffer = must_map(resource);
    CUdeviceptr first = gr_buffer_ptr(buffer);
    CU(PointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, first));
    ck_assert_int_eq(owner, fx.device);
    assert_ok(gr_buffer_release(buffer));
    buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), first);
    assert_ok(gr_buffer_release(buffer));
}

GROUP("bytes on one GPU", add_near_case)

/* Staging buffers take turns, so that CUDA need not wait until OpenGL has copied the last one. */
PEER_TEST(a_map_returns_the_next_staging_buffer)
{
    static const struct {
        unsigned flags, count;
    } kinds[] = {{GR_READ_WRITE, 1}, {GR_READ_ONLY, 2}, {GR_WRITE_DISCARD, 4}};
    for (size_t k = 0; k < 3; k++) {
        CUdeviceptr seen[9];
        GLuint name = gl_buffer_pattern(SIZE, 1);
        GR_AUTO(gr_resource) *resource = must_peer(name, kinds[k].flags);
        for (unsigned i = 0; i < 9; i++) {
            gr_buffer *buffer = must_map(resource);
            seen[i] = gr_buffer_ptr(buffer);
            if (kinds[k].flags != GR_WRITE_DISCARD)
                assert_cuda_pattern(buffer, 1);
            else
                cuda_write_pattern(buffer, i);
            assert_ok(gr_buffer_release(buffer));
            assert_gl_pattern(name, SIZE, kinds[k].flags == GR_WRITE_DISCARD ? i : 1);
        }
        for (unsigned i = 0; i < 9; i++)
            for (unsigned j = 0; j < i; j++)
                ck_assert_int_eq(seen[i] == seen[j], (i - j) % kinds[k].count == 0);
    }
}

/* OpenGL copies within the memory of its GPU, and CUDA only waits and signals. */
PEER_TEST(cuda_copies_nothing_on_one_gpu)
{
    GR_AUTO(gr_resource) *resource = must_peer(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE);
    for (unsigned round = 1; round < 4; round++)
        go_round(resource, SIZE, round);
    assert_calls(COPY, 0);
    assert_calls("cuMemcpyPeerAsync", 0);
    assert_calls("cuGraphicsMapResources", 0);
    assert_calls(WAIT, 3);
    assert_calls(SIGNAL, 3);
}

GROUP("batches", EVERY_PEER)

static const unsigned some_flags[MANY] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD,
                                          GR_READ_WRITE, GR_READ_ONLY};

/* Checks what the map and release of these resources call, and the bytes. */
PEER_TEST(a_batch_needs_one_wait_and_one_signal)
{
    gr_resource *resources[MANY];
    gr_buffer *buffers[MANY];
    const unsigned long signals = case_signals(), crosses = case_crosses();
    for (unsigned i = 0; i < MANY; i++)
        resources[i] = must_peer(gl_buffer_pattern(SIZE + i, i), some_flags[i]);
    pretend_counts.signals = pretend_counts.waits = 0;
    assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
    assert_calls(WAIT, signals);
    assert_calls(COPY, 4 * crosses);
    for (unsigned i = 0; i < MANY; i++) {
        if (some_flags[i] != GR_WRITE_DISCARD)
            assert_cuda_pattern(buffers[i], i);
        cuda_write_pattern(buffers[i], i + 20);
    }
    assert_ok(gr_buffer_release_many(buffers, MANY, fx.stream, NULL));
    assert_calls(SIGNAL, signals);
    assert_calls(COPY, 7 * crosses);
    if (gr_cuda_is_software()) { /* OpenGL signals before CUDA's wait, and after its last copy */
        ck_assert_uint_eq(pretend_counts.signals, 2 * signals);
        ck_assert_uint_eq(pretend_counts.waits, signals);
    }
    for (unsigned i = 0; i < MANY; i++)
        assert_gl_pattern(gr_gl_name(resources[i]), SIZE + i,
                          some_flags[i] == GR_READ_ONLY ? i : i + 20);
    free_resources(resources, MANY);
}

PEER_TEST(map_many_splits_300_resources_into_two_batches)
{
    static GLuint names[HUGE];
    static gr_resource *resources[HUGE];
    static gr_buffer *buffers[HUGE];
    for (unsigned i = 0; i < HUGE; i++) {
        names[i] = gl_buffer_pattern(64, i);
        resources[i] = must_peer(names[i], GR_READ_WRITE);
    }
    assert_ok(gr_map_many(resources, HUGE, fx.stream, NULL, buffers));
    assert_calls(WAIT, case_signals() ? 2 : 0);
    for (unsigned i = 0; i < HUGE; i++)
        assert_cuda_pattern(buffers[i], i);
    for (unsigned i = 0; i < HUGE; i += 13)
        cuda_write_pattern(buffers[i], i + 7);
    assert_ok(gr_buffer_release_many(buffers, HUGE, fx.stream, NULL));
    assert_calls(SIGNAL, case_signals() ? 2 : 0);
    for (unsigned i = 0; i < HUGE; i++) {
        assert_gl_pattern(names[i], 64, i % 13 ? i : i + 7);
        gr_resource_free(resources[i]);
    }
}

START(fault_control_start())
