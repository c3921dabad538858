/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Signals and waits: their parameters for each kind of semaphore, and fields that a kind does not
 * use.
 */
#include "descriptors_semaphore.h"

#include <string.h>

#define SIGNAL  "cuSignalExternalSemaphoresAsync"
#define WAIT    "cuWaitExternalSemaphoresAsync"
#define BARRIER "cuStreamBatchMemOp"

#define STREAM CU_STREAM_LEGACY
#define FENCE  ((void *)(size_t)0xfe1ce0)

static const char *call_name(bool is_wait)
{
    return is_wait ? WAIT : SIGNAL;
}

static gr_status enqueue(const gr_semaphore_point points[], size_t n, bool is_wait)
{
    return is_wait ? gr_semaphore_wait(points, n, STREAM) : gr_semaphore_signal(points, n, STREAM);
}

/* ---- What reaches the driver ----------------------------------------------------------------- */

/* Returns a point in which all fields that the kind uses are set. */
static gr_semaphore_point full_point(enum kind kind, gr_semaphore *semaphore, bool is_wait)
{
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore);
    if (kind == KIND_FENCE)
        point.value = 0x123456789abcdefull;
    if (kind == KIND_KEYED) {
        point.key = 0xfedcba987654321ull;
        point.timeout_ms = is_wait ? 0xffffffffu : 0;
    }
    if (kind == KIND_NVSCI) {
        point.nvsci_fence = FENCE;
        point.skip_nvscibuf = true;
    }
    return point;
}

/*
 * Checks the fields that each kind uses. The expected values follow the documentation of the
 * driver, not the code of grinterop.
 */
static const char *point_is(const struct recorded *call, unsigned i, enum kind kind,
                            const gr_semaphore_point *point, bool is_wait)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal;
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait;
    memset(&signal, 0, sizeof(signal));
    memset(&wait, 0, sizeof(wait));
    if (kind == KIND_FENCE)
        signal.params.fence.value = wait.params.fence.value = point->value;
    if (kind == KIND_KEYED) {
        signal.params.keyedMutex.key = wait.params.keyedMutex.key = point->key;
        wait.params.keyedMutex.timeoutMs = point->timeout_ms;
    }
    if (kind == KIND_NVSCI) {
        signal.params.nvSciSync.fence = wait.params.nvSciSync.fence = point->nvsci_fence;
        signal.flags = point->skip_nvscibuf ? 0x01 : 0;
        wait.flags = point->skip_nvscibuf ? 0x02 : 0;
    }
    if (is_wait ? memcmp(&wait, &call->given.waits[i], sizeof(wait)) != 0
                : memcmp(&signal, &call->given.signals[i], sizeof(signal)) != 0)
        FAIL("the driver received another %s", is_wait ? "wait" : "signal");
    return NULL;
}

static const char *points_are(const struct recorded *call, const enum kind kinds[],
                              const gr_semaphore_point points[], unsigned n, bool is_wait)
{
    REQUIRE(call && call->count == n && call->stream == STREAM);
    for (unsigned i = 0; i < n; i++) {
        REQUIRE(call->semaphores[i] == gr_semaphore_get_info(points[i].semaphore)->external);
        PASS_ON(point_is(call, i, kinds[i], &points[i], is_wait));
    }
    return NULL;
}

static const char *one_point(const struct external_type *type, gr_semaphore_point *point,
                             bool is_wait)
{
    gr_error error;
    recorder->reset();
    if (enqueue(point, 1, is_wait) != GR_OK) {
        error = *gr_last_error();
        FAIL("%s: %s", call_name(is_wait), error.message);
    }
    REQUIRE(recorder->calls(call_name(is_wait)) == 1);
    const enum kind kind = (enum kind)type->kind;
    return points_are(recorder->nth(call_name(is_wait), 0), &kind, point, 1, is_wait);
}

static const char *signal_and_wait(const void *row)
{
    const struct external_type *type = row;
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(type);
    REQUIRE(semaphore);
    for (int is_wait = 0; is_wait <= 1; is_wait++) {
        gr_semaphore_point point = full_point(type->kind, semaphore, is_wait);
        PASS_ON(one_point(type, &point, is_wait));
    }
    if (type->kind == KIND_NVSCI) {
        for (int is_wait = 0; is_wait <= 1; is_wait++) {
            gr_semaphore_point point = full_point(type->kind, semaphore, is_wait);
            point.skip_nvscibuf = false;
            PASS_ON(one_point(type, &point, is_wait));
        }
    }
    return NULL;
}

/* One call signals or waits for one semaphore of each kind, in order and in one driver call. */
static const char *many(const void *row)
{
    const bool is_wait = *(const bool *)row;
    static const int chosen[] = {8, 6, 0, 5, 3}; /* indices in semaphore_types */
    gr_semaphore_point points[COUNT(chosen)];
    enum kind kinds[COUNT(chosen)];
    for (size_t i = 0; i < COUNT(chosen); i++) {
        const struct external_type *type = &semaphore_types[chosen[i]];
        gr_semaphore *semaphore = semaphore_of(type);
        REQUIRE(semaphore);
        kinds[i] = type->kind;
        points[i] = full_point(type->kind, semaphore, is_wait);
    }
    /* A wait for a binary semaphore is valid only after a signal. */
    if (is_wait)
        REQUIRE(enqueue(&points[2], 1, false) == GR_OK);
    REQUIRE(enqueue(points, COUNT(chosen), is_wait) == GR_OK);
    REQUIRE(recorder->calls(call_name(is_wait)) == 1);
    PASS_ON(
        points_are(recorder->nth(call_name(is_wait), 0), kinds, points, COUNT(chosen), is_wait));
    for (size_t i = 0; i < COUNT(chosen); i++)
        gr_semaphore_free(points[i].semaphore);
    return NULL;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static const struct field {
    const char *name;
    gr_semaphore_point wrong;
    unsigned signal_kinds, wait_kinds; /* the kinds that use the field */
} fields[] = {
    {"value", {.value = 18}, 1 << KIND_FENCE, 1 << KIND_FENCE},
    {"key", {.key = 1}, 1 << KIND_KEYED, 1 << KIND_KEYED},
    {"timeout_ms", {.timeout_ms = 1}, 0, 1 << KIND_KEYED},
    {"nvsci_fence", {.nvsci_fence = FENCE}, 1 << KIND_NVSCI, 1 << KIND_NVSCI},
    {"skip_nvscibuf", {.skip_nvscibuf = true}, 1 << KIND_NVSCI, 1 << KIND_NVSCI},
};

static gr_semaphore_point with_field(gr_semaphore_point point, const struct field *field)
{
    point.value |= field->wrong.value;
    point.key |= field->wrong.key;
    point.timeout_ms |= field->wrong.timeout_ms;
    if (field->wrong.nvsci_fence)
        point.nvsci_fence = field->wrong.nvsci_fence;
    point.skip_nvscibuf |= field->wrong.skip_nvscibuf;
    return point;
}

struct wrong_field {
    const struct external_type *type;
    const struct field *field;
    bool is_wait;
};

static const char *field_refused(const void *row)
{
    const struct wrong_field *wrong = row;
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(wrong->type);
    REQUIRE(semaphore);
    gr_semaphore_point point = full_point(wrong->type->kind, semaphore, wrong->is_wait);
    point = with_field(point, wrong->field);
    REQUIRE(enqueue(&point, 1, wrong->is_wait) == GR_ERR_INVALID_VALUE);
    PASS_ON(refused_by_rule(call_name(wrong->is_wait), wrong->field->name));
    REQUIRE(recorder->calls(SIGNAL) == 0 && recorder->calls(WAIT) == 0);
    return NULL;
}

static const char *no_nvsci_fence(const void *row)
{
    const bool is_wait = *(const bool *)row;
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(&semaphore_types[5]);
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore);
    REQUIRE(enqueue(&point, 1, is_wait) == GR_ERR_INVALID_VALUE);
    PASS_ON(refused_by_rule(call_name(is_wait), "nvsci_fence is NULL"));
    REQUIRE(recorder->calls(call_name(is_wait)) == 0);
    return NULL;
}

/* The imported semaphore has the value 17, and values may only grow. */
static const char *value_goes_backwards(const void *row)
{
    static const uint64_t values[] = {0, 16, 17};
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(row);
    for (size_t i = 0; i < COUNT(values); i++) {
        gr_semaphore_point point =
            GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = values[i]);
        REQUIRE(enqueue(&point, 1, false) == GR_ERR_INVALID_VALUE);
        REQUIRE(recorder->calls(SIGNAL) == 0);
    }
    gr_semaphore_point next = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 18);
    REQUIRE(enqueue(&next, 1, false) == GR_OK);
    REQUIRE(enqueue(&next, 1, false) == GR_ERR_INVALID_VALUE);
    REQUIRE(recorder->calls(SIGNAL) == 1);
    return NULL;
}

static const char *driver_refuses(const void *row)
{
    const bool is_wait = *(const bool *)row;
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(&semaphore_types[8]);
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 18);
    recorder->answer(call_name(is_wait), CUDA_ERROR_ILLEGAL_ADDRESS);
    REQUIRE(enqueue(&point, 1, is_wait) == GR_ERR_DEVICE_LOST);
    PASS_ON(refused_by_driver(GR_ERR_DEVICE_LOST, CUDA_ERROR_ILLEGAL_ADDRESS, call_name(is_wait),
                              "earlier work"));
    return NULL;
}

/*
 * A memory barrier must precede the signals. One call has only one barrier.
 *
 * Catches: when several processes used a GPU, OpenGL read old bytes despite a correct wait.
 */
static const char *barrier_before_signal(const void *row)
{
    (void)row;
    gr_semaphore_point points[2];
    for (size_t i = 0; i < 2; i++)
        points[i] = GR_INIT(gr_semaphore_point, .semaphore = semaphore_of(&semaphore_types[8]),
                            .value = 18 + i);
    REQUIRE(enqueue(points, 2, true) == GR_OK);
    REQUIRE(recorder->calls(BARRIER) == 0);
    REQUIRE(enqueue(points, 2, false) == GR_OK);
    REQUIRE(recorder->calls(BARRIER) == 1);
    const struct recorded *barrier = recorder->nth(BARRIER, 0);
    REQUIRE(barrier < recorder->nth(SIGNAL, 0));
    REQUIRE(barrier->stream == STREAM && barrier->count == 1);
    REQUIRE(barrier->given.operation.memoryBarrier.operation == CU_STREAM_MEM_OP_BARRIER);
    REQUIRE(barrier->given.operation.memoryBarrier.flags == CU_STREAM_MEMORY_BARRIER_TYPE_SYS);
    for (size_t i = 0; i < 2; i++)
        gr_semaphore_free(points[i].semaphore);
    return NULL;
}

/*
 * If the driver has no barriers, grinterop tries a barrier only once per semaphore.
 *
 * Catches: a refusal by the driver of one device disabled the barriers for all other devices.
 */
static const char *no_barriers(const void *row)
{
    (void)row;
    gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore_of(&semaphore_types[8]), .value = 18);
    recorder->answer(BARRIER, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(enqueue(&point, 1, false) == GR_OK);
    point.value = 19;
    REQUIRE(enqueue(&point, 1, false) == GR_OK);
    REQUIRE(recorder->calls(BARRIER) == 1);
    REQUIRE(recorder->calls(SIGNAL) == 2);
    gr_semaphore_point other =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore_of(&semaphore_types[8]), .value = 18);
    REQUIRE(enqueue(&other, 1, false) == GR_OK);
    REQUIRE(recorder->calls(BARRIER) == 2);
    gr_semaphore_free(other.semaphore);
    gr_semaphore_free(point.semaphore);
    return NULL;
}

/* ---- Resources ------------------------------------------------------------------------------- */

#define BATCH RECORDER_SEMAPHORES

/* Creates a resource with this pair of semaphores, which other resources may also use. */
static gr_resource *resource_with(gr_semaphore *pair[2])
{
    gr_resource *resource = gr_from_external_memory(
        &GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                 .fd = fd_make(), .size = 4096),
        GR_READ_WRITE);
    return resource && gr_resource_set_sync(resource, pair[0], pair[1]) == GR_OK ? resource : NULL;
}

static bool begin_and_commit(gr_resource *const resources[], size_t n)
{
    GR_AUTO(gr_submit) *submit = gr_submit_begin(resources, n);
    return submit && gr_submit_commit(submit) == GR_OK;
}

struct batch_row {
    size_t pairs;
    bool neighbours; /* the resources of a pair are neighbours: the first has more than the last */
};

/*
 * gr_map_many() waits once for each semaphore, all in one driver call, and a release signals each
 * semaphore once. Tested with one pair for all resources, and with more pairs than the initial
 * capacity of the library.
 */
static const char *batch(const void *arg)
{
    const struct batch_row *row = arg;
    const size_t pairs = row->pairs;
    gr_semaphore *pair[BATCH][2];
    gr_resource *resources[BATCH];
    gr_buffer *buffers[BATCH];
    for (size_t i = 0; i < 2 * pairs; i++)
        pair[i / 2][i % 2] = semaphore_of(&semaphore_types[8]);
    for (size_t i = 0; i < BATCH; i++) {
        resources[i] = resource_with(pair[row->neighbours ? i * pairs / BATCH : i % pairs]);
        REQUIRE(resources[i]);
    }
    REQUIRE(begin_and_commit(resources, BATCH));
    REQUIRE(gr_map_many(resources, BATCH, STREAM, NULL, buffers) == GR_OK);
    REQUIRE(recorder->calls(WAIT) == 1 && recorder->nth(WAIT, 0)->count == pairs);
    for (size_t i = 0; i < pairs; i++) {
        REQUIRE(recorder->nth(WAIT, 0)->semaphores[i] ==
                gr_semaphore_get_info(pair[i][0])->external);
        REQUIRE(recorder->nth(WAIT, 0)->given.waits[i].params.fence.value == 18);
    }
    REQUIRE(gr_buffer_release_many(buffers, BATCH, GR_STREAM_OF_MAP, NULL) == GR_OK);
    REQUIRE(recorder->calls(SIGNAL) == pairs);
    for (size_t i = 0; i < pairs; i++)
        REQUIRE(recorder->nth(SIGNAL, i)->semaphores[0] ==
                gr_semaphore_get_info(pair[i][1])->external);
    for (size_t i = 0; i < BATCH; i++)
        gr_resource_free(resources[i]);
    for (size_t i = 0; i < 2 * pairs; i++)
        gr_semaphore_free(pair[i / 2][i % 2]);
    return NULL;
}

static bool has_field(const struct wrong_field *wrong)
{
    unsigned kinds = wrong->is_wait ? wrong->field->wait_kinds : wrong->field->signal_kinds;
    return kinds & (1u << wrong->type->kind);
}

void point_cases(void)
{
    static const bool directions[] = {false, true};
    for (size_t i = 0; i < SEMAPHORE_TYPES; i++) {
        const struct external_type *type = &semaphore_types[i];
        run_case(type->name, "all fields of a signal and a wait reach the driver", signal_and_wait,
                 type);
        if (type->kind == KIND_FENCE)
            run_case(type->name, "a value that does not grow is refused", value_goes_backwards,
                     type);
        for (size_t k = 0; k < 2 * COUNT(fields); k++) {
            struct wrong_field wrong = {type, &fields[k / 2], directions[k % 2]};
            if (!has_field(&wrong))
                run_case(type->name, wrong.field->name, field_refused, &wrong);
        }
    }
    for (size_t k = 0; k < 2; k++) {
        run_case("points", "points of all kinds need one driver call", many, &directions[k]);
        run_case("points", "a missing NvSciSync fence is refused", no_nvsci_fence, &directions[k]);
        run_case("points", "a refusal by the driver is reported", driver_refuses, &directions[k]);
    }
    run_case("points", "a barrier precedes the signals", barrier_before_signal, NULL);
    run_case("points", "a refused barrier is tried once per semaphore", no_barriers, NULL);
    for (size_t pairs = 1; pairs <= BATCH; pairs++)
        for (size_t k = 0; k < 2; k++)
            run_case("points", "map_many waits and signals once per semaphore", batch,
                     &(struct batch_row){pairs, directions[k]});
}
