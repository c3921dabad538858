/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Submits with a graphics API that the host simulates. Memory and semaphores belong to the software
 * driver, so that binary semaphores are tested even if Vulkan cannot export them. vk_sync_use.c
 * makes the same tests with Vulkan.
 */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "tests/support/soft_semaphores.h"

#include <grinterop/external.h>
#include <grinterop/submit.h>

#define SIZE 65536
#define MOST 5

/* Longer than any correct wait takes. */
#define TOO_LATE_MS 5000

/* ---- The graphics API ------------------------------------------------------------------------ */

#define need_software()                                                                            \
    do {                                                                                           \
        if (!soft_semaphores_load())                                                               \
            skip("its semaphores are the software driver's, and %s is in use",                     \
                 gr_cuda_driver_path());                                                           \
    } while (0)

/* The handles of one semaphore for CUDA and for the simulated graphics API. */
static struct {
    gr_semaphore *cuda;
    gr_softcuda_semaphore *graphics;
} semaphores[8];
static size_t semaphore_count;

static gr_semaphore *make_semaphore(bool timeline)
{
    int fd = -1;
    ck_assert_int_eq(soft.create(timeline, 0, &fd), CUDA_SUCCESS);
    ck_assert_int_eq(soft.open(fd, &semaphores[semaphore_count].graphics), CUDA_SUCCESS);
    gr_semaphore *made = must_make(gr_semaphore_from_handle(
        &GR_INIT(gr_semaphore_desc,
                 .type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                                  : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
                 .fd = fd)));
    semaphores[semaphore_count++].cuda = made;
    return made;
}

static void end_semaphores(void)
{
    while (semaphore_count > 0) {
        gr_semaphore_free(semaphores[--semaphore_count].cuda);
        soft.close(semaphores[semaphore_count].graphics);
    }
}

static gr_softcuda_semaphore *graphics_of(const gr_semaphore *semaphore)
{
    for (size_t i = 0; i < semaphore_count; i++)
        if (semaphores[i].cuda == semaphore)
            return semaphores[i].graphics;
    ck_abort_msg("a submit names a semaphore that is none of the case's");
    return NULL;
}

/* Executes the waits and the signals of the submit at once. */
static void run(const gr_submit *submit)
{
    for (size_t i = 0; i < submit->wait_count; i++)
        ck_assert_msg(soft.wait(graphics_of(submit->waits[i]), submit->wait_values[i],
                                TOO_LATE_MS) == CUDA_SUCCESS,
                      "the submit waits for a signal that does not come");
    for (size_t i = 0; i < submit->signal_count; i++)
        ck_assert_int_eq(soft.signal(graphics_of(submit->signals[i]), submit->signal_values[i]),
                         CUDA_SUCCESS);
}

static void run_and_commit(gr_submit *submit)
{
    assert_made(submit);
    run(submit);
    assert_ok(gr_submit_commit(submit));
    gr_submit_free(submit);
}

/* ---- Resources ------------------------------------------------------------------------------- */

static CUmemGenericAllocationHandle memories[MOST];
static gr_resource *resources[MOST];

static gr_resource *make_resource(CUmemGenericAllocationHandle *memory)
{
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}};
    size_t granularity = 0;
    int fd = -1;
    CU(MemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    size_t size = (SIZE + granularity - 1) / granularity * granularity;
    CU(MemCreate(memory, size, &properties, 0));
    CU(MemExportToShareableHandle(&fd, *memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return must_make(gr_from_external_memory(
        &GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                 .fd = fd, .size = size),
        GR_READ_WRITE));
}

static void make_resources(size_t n, gr_semaphore *acquire, gr_semaphore *release)
{
    for (size_t i = 0; i < n; i++) {
        resources[i] = make_resource(&memories[i]);
        assert_ok(gr_resource_set_sync(resources[i], acquire, release));
    }
}

static void end_resources(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gr_resource_free(resources[i]);
        CU(MemRelease(memories[i]));
    }
    CU(CtxSynchronize());
    end_semaphores();
    make_semaphore(true); /* also frees the objects whose free was deferred */
    end_semaphores();
}

static void use_by_cuda(gr_resource *resource, CUstream stream)
{
    gr_buffer *buffer = must_make(gr_map(resource, stream));
    assert_ok(gr_buffer_release(buffer));
}

GROUP("resources without a chosen order", add_case)

TEST(map_of_memory_without_a_chosen_order_is_refused)
{
    need_software();
    resources[0] = make_resource(&memories[0]);
    gr_buffer *out = NULL;
    for (int i = 0; i < 2; i++) {
        const char *words = i == 0 ? "gr_resource_set_sync()" : "GR_SEMAPHORE_NONE";
        assert_null(gr_map(resources[0], fx.stream), GR_ERR_STATE, 0, words);
        assert_fails(gr_map_many(resources, 1, fx.stream, NULL, &out), GR_ERR_STATE, 0, words);
        assert_null(gr_submit_begin(resources, 1), GR_ERR_STATE, 0, words);
    }
    assert_invalid(gr_resource_set_sync(resources[0], NULL, NULL), "NONE");
    assert_null(gr_map(resources[0], fx.stream), GR_ERR_STATE, 0, "set_sync");
    assert_ok(gr_resource_set_sync(resources[0], GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    use_by_cuda(resources[0], fx.stream);
    run_and_commit(gr_submit_begin(resources, 1));
    use_by_cuda(resources[0], fx.other);
    end_resources(1);
}

/* Functions that ignore NULL also ignore GR_SEMAPHORE_NONE. */
TEST(gr_semaphore_none_is_ignored_like_null)
{
    char text[64];
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = GR_SEMAPHORE_NONE, .value = 1);
    gr_semaphore_free(GR_SEMAPHORE_NONE);
    ck_assert_ptr_null(gr_semaphore_get_info(GR_SEMAPHORE_NONE));
    gr_semaphore_describe(GR_SEMAPHORE_NONE, text, sizeof(text));
    ck_assert_str_eq(text, "no semaphore (GR_SEMAPHORE_NONE)");
    assert_invalid(gr_semaphore_signal(&point, 1, fx.stream), "GR_SEMAPHORE_NONE");
}

GROUP("manual signals and waits", add_case)

/* Succeeds if the semaphore still exists in the driver: a wait for 0 ends at once. */
static CUresult semaphore_exists(CUexternalSemaphore semaphore)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = 0};
    return fx.cu->WaitExternalSemaphoresAsync(&semaphore, &params, 1, fx.other);
}

/* After the last signal or wait, the next import destroys a deferred semaphore. */
static void assert_ends_soon(CUexternalSemaphore semaphore)
{
    for (int i = 0; i < 2000 && semaphore_exists(semaphore) == CUDA_SUCCESS; i++) {
        make_semaphore(true);
        end_semaphores();
        sleep_ms(1);
    }
    ck_assert_int_eq(semaphore_exists(semaphore), CUDA_ERROR_INVALID_HANDLE);
}

/*
 * The manual of the driver requires that signals and waits have completed before the semaphore is
 * destroyed.
 *
 * Catches: gr_semaphore_free() destroyed the semaphore at once.
 */
TEST(a_freed_semaphore_ends_after_its_pending_signals_and_waits, 2)
{
    need_software();
    gr_semaphore *semaphore = make_semaphore(true);
    gr_softcuda_semaphore *graphics = graphics_of(semaphore);
    CUexternalSemaphore external = gr_semaphore_get_info(semaphore)->external;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 1);
    struct gate *gate = gate_put(fx.stream);
    assert_ok((_i == 0 ? gr_semaphore_wait : gr_semaphore_signal)(&point, 1, fx.stream));
    gr_semaphore_free(semaphore);
    semaphore_count = 0;
    CUresult lives = semaphore_exists(external);
    gate_open(gate);
    if (_i == 0)
        soft.signal(graphics, 1);
    CU(StreamSynchronize(fx.stream));
    soft.close(graphics);
    ck_assert_int_eq(lives, CUDA_SUCCESS);
    assert_ends_soon(external);
}

TEST(a_freed_semaphore_without_pending_work_ends_soon)
{
    need_software();
    gr_semaphore *semaphore = make_semaphore(true);
    CUexternalSemaphore external = gr_semaphore_get_info(semaphore)->external;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 1);
    assert_ok(gr_semaphore_signal(&point, 1, fx.other));
    assert_ok(gr_semaphore_wait(&point, 1, fx.stream));
    CU(StreamSynchronize(fx.stream));
    CU(StreamSynchronize(fx.other));
    end_semaphores();
    ck_assert_int_eq(semaphore_exists(external), CUDA_ERROR_INVALID_HANDLE);
}

GROUP("binary semaphores", add_case)

TEST(a_submit_can_begin_again_after_a_cancelled_one)
{
    need_software();
    make_resources(2, make_semaphore(false), make_semaphore(false));
    for (int i = 0; i < 4; i++) {
        use_by_cuda(resources[0], fx.stream);
        gr_submit *submit = must_make(gr_submit_begin(resources, 1));
        ck_assert(submit->wait_count == 1 && submit->signal_count == 1);
        ck_assert(submit->wait_values[0] == 0 && submit->signal_values[0] == 0);
        assert_null(gr_submit_begin(resources + 1, 1), GR_ERR_STATE, 0, "binary");
        gr_submit_free(submit);
        submit = must_make(gr_submit_begin(resources, 1));
        ck_assert(submit->wait_count == 1 && submit->signal_count == 1);
        run_and_commit(submit);
        assert_null(gr_submit_begin(resources + 1, 1), GR_ERR_STATE, 0, "binary");
    }
    use_by_cuda(resources[0], fx.stream);
    CU(StreamSynchronize(fx.stream));
    end_resources(2);
}

/*
 * The second release waits for the signal of the first, so its own signal covers both.
 *
 * Catches: the submit of the first resource waited for nothing.
 */
TEST(a_release_replaces_the_binary_signal_of_the_previous_one)
{
    need_software();
    make_resources(2, GR_SEMAPHORE_NONE, make_semaphore(false));
    for (int i = 0; i < 3; i++) {
        use_by_cuda(resources[0], fx.stream);
        use_by_cuda(resources[1], fx.other);
        gr_submit *submit = must_make(gr_submit_begin(resources, 1));
        ck_assert_uint_eq(submit->wait_count, 1);
        run_and_commit(submit);
        submit = gr_submit_begin(resources + 1, 1); /* comes later in the same queue */
        assert_made(submit);
        ck_assert_uint_eq(submit->wait_count, 0);
        run_and_commit(submit);
    }
    end_resources(2);
}

/* A signal for which a submit will wait is reserved until the submit is committed or cancelled. */
TEST(a_binary_signal_is_reserved_for_one_submit, 2)
{
    need_software();
    make_resources(3, GR_SEMAPHORE_NONE, make_semaphore(false));
    use_by_cuda(resources[0], fx.stream);
    use_by_cuda(resources[1], fx.stream);
    gr_buffer *buffer = must_make(gr_map(resources[2], fx.stream));
    gr_submit *submit = must_make(gr_submit_begin(resources, 1));
    assert_null(gr_submit_begin(resources + 1, 1), GR_ERR_STATE, 0, "gr_submit_commit()");
    assert_fails(gr_buffer_release(buffer), GR_ERR_STATE, 0, "gr_submit_free()");
    if (_i == 0)
        gr_submit_free(submit);
    else
        run_and_commit(submit);
    assert_ok(gr_buffer_release(buffer));
    run_and_commit(gr_submit_begin(resources, 3));
    end_resources(3);
}

GROUP("timelines", add_case)

TEST(a_batch_that_was_mapped_before_is_not_mapped_during_a_submit)
{
    need_software();
    gr_buffer *buffers[3];
    make_resources(3, make_semaphore(true), make_semaphore(true));
    gr_resource *twice[3] = {resources[0], resources[1], resources[0]};
    for (int i = 0; i < 3; i++) {
        assert_ok(gr_map_many(resources, 3, fx.stream, NULL, buffers));
        assert_null(gr_submit_begin(resources, 3), GR_ERR_STATE, 0, "is mapped");
        assert_ok(gr_buffer_release_many(buffers, 3, GR_STREAM_OF_MAP, NULL));
        assert_null(gr_submit_begin(twice, 3), GR_ERR_INVALID_VALUE, 0, "listed twice");
        gr_submit *submit = must_make(gr_submit_begin(resources + 1, 1));
        assert_fails(gr_map_many(resources, 3, fx.stream, NULL, buffers), GR_ERR_STATE, 0,
                     "a submit that has begun");
        assert_null(gr_submit_begin(resources, 3), GR_ERR_STATE, 0, "a submit that has begun");
        gr_submit_free(submit);
        run_and_commit(gr_submit_begin(resources, 3));
    }
    end_resources(3);
}

/*
 * No stream may wait for a skipped value, not even if one semaphore serves both directions.
 *
 * Catches: a release waited for the last value, which belonged to a cancelled submit.
 */
TEST(no_stream_waits_for_the_value_of_a_cancelled_submit)
{
    need_software();
    gr_semaphore *both = make_semaphore(true);
    make_resources(2, GR_SEMAPHORE_NONE, both);
    assert_invalid(gr_resource_set_sync(resources[1], both, both), "GR_SEMAPHORE_NONE twice");
    assert_ok(gr_resource_set_sync(resources[1], both, GR_SEMAPHORE_NONE));
    for (int i = 0; i < 4; i++) {
        use_by_cuda(resources[0], i % 2 ? fx.stream : fx.other);
        GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(resources + 1, 1));
        ck_assert_uint_eq(submit->signal_values[0], 2 * (unsigned)i + 2);
    }
    use_by_cuda(resources[1], fx.stream);
    CU(CtxSynchronize());
    end_resources(2);
}

GROUP("memory", add_case)

static void begin_and_end(size_t from, size_t n)
{
    gr_submit *first = must_make(gr_submit_begin(resources + from, n));
    gr_submit *second = must_make(gr_submit_begin(resources, from));
    run_and_commit(second);
    gr_submit_free(first);
}

TEST(a_loop_of_submits_allocates_nothing)
{
    need_software();
    need_counting();
    make_resources(MOST, make_semaphore(true), make_semaphore(true));
    for (int round = 0; round < 4; round++) {
        if (round % 2)
            start_counting();
        for (size_t i = 0; i < 100; i++)
            round < 2 ? begin_and_end(1, MOST - 1) : begin_and_end(1 + i % (MOST - 1), 1);
        ck_assert(round % 2 == 0 || allocations == 0);
    }
    end_resources(MOST);
}

/* More submits than the library keeps for reuse. */
TEST(a_hundred_submits_can_exist_at_once)
{
    enum { MANY = 100 };
    static gr_resource *many[MANY];
    gr_submit *submits[MANY];
    for (int i = 0; i < MANY; i++) {
        many[i] = must_register(gl_buffer_filled(16, 1));
        submits[i] = must_make(gr_submit_begin(many, (size_t)i + 1));
        ck_assert(submits[i]->wait_count == 0 && submits[i]->signal_count == 0);
    }
    for (int i = 0; i < MANY; i++) {
        assert_ok(gr_submit_commit(submits[i]));
        gr_submit_free(submits[i]);
    }
    free_resources(many, MANY);
}

GROUP("threads", add_case)

#define FRAMES 100

static pthread_mutex_t in_order = PTHREAD_MUTEX_INITIALIZER;

/* Each thread has its own resource. All threads submit to one queue. */
static void *render(void *argument)
{
    gr_resource *resource = argument;
    CUstream stream = NULL;
    CU(CtxSetCurrent(fx.context));
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < FRAMES; i++) {
        pthread_mutex_lock(&in_order);
        gr_submit *submit = gr_submit_begin(&resource, 1);
        if (i % 5 != 0)
            run_and_commit(submit);
        else
            gr_submit_free(submit);
        pthread_mutex_unlock(&in_order);
        use_by_cuda(resource, stream);
    }
    CU(StreamSynchronize(stream));
    CU(StreamDestroy(stream));
    return NULL;
}

TEST(threads_can_share_a_pair_of_semaphores)
{
    need_software();
    pthread_t threads[MOST];
    make_resources(MOST, make_semaphore(true), make_semaphore(true));
    for (size_t i = 0; i < MOST; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, render, resources[i]), 0);
    for (size_t i = 0; i < MOST; i++)
        pthread_join(threads[i], NULL);
    end_resources(MOST);
}
