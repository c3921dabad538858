/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shares a ring while each step fails once: an allocation, a lock, an event descriptor, a thread, a
 * stream, retaining a CUDA context. The call must name the step in its error and leave nothing
 * behind.
 *
 * The functions of this program override those of the C library and fail only for calls from
 * grinterop.
 */
#define _GNU_SOURCE
#include "tests/drivers/fault_driver.h"
#include "tests/support/next.h"
#include "share_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#define SLOTS 2

/* More calls than any step makes. */
#define MOST_TIMES 100

/* ---- Functions that fail --------------------------------------------------------------------- */

/* The C library function that must fail on this thread, and the number of calls until it fails. */
static _Thread_local struct {
    const char *function;
    long left;
} failing;

static void *grinterop; /* the address at which grinterop is loaded */

static bool is_due(const char *function, const void *caller)
{
    Dl_info info;
    if (failing.left == 0 || strcmp(failing.function, function) != 0 || !dladdr(caller, &info) ||
        info.dli_fbase != grinterop)
        return false;
    return --failing.left == 0;
}

#ifdef SANITIZER

/* The name of the sanitizer, if it overrides the function itself; otherwise NULL. */
static const char *cannot_fail(const char *function)
{
    return strcmp(function, "eventfd") == 0 ? NULL : SANITIZER;
}

#else

static const char *cannot_fail(const char *function)
{
    (void)function;
    return NULL;
}

void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size)
{
    return is_due("calloc", __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    NEXT(pthread_mutex_init);
    return is_due("pthread_mutex_init", __builtin_return_address(0)) ? ENOMEM
                                                                     : next(mutex, attributes);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user)
{
    NEXT(pthread_create);
    return is_due("pthread_create", __builtin_return_address(0))
               ? EAGAIN
               : next(thread, attributes, run, user);
}

#endif

int eventfd(unsigned value, int flags)
{
    NEXT(eventfd);
    if (!is_due("eventfd", __builtin_return_address(0)))
        return next(value, flags);
    errno = EMFILE;
    return -1;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* A function that sending and receiving call, and the error that they return when it fails. */
static const struct step {
    const char *function;
    CUresult code; /* the result of a driver function; CUDA_SUCCESS for a C library function */
    gr_status status;
    const char *text;
    int error; /* the errno with which it fails */
} steps[] = {
    {"calloc", CUDA_SUCCESS, GR_ERR_NO_MEMORY, "memory", 0},
    {"pthread_mutex_init", CUDA_SUCCESS, GR_ERR_NO_MEMORY, "memory", 0},
    {"eventfd", CUDA_SUCCESS, GR_ERR_SYSTEM, "eventfd", EMFILE},
    {"pthread_create", CUDA_SUCCESS, GR_ERR_SYSTEM, "thread", EAGAIN},
    {"cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, GR_ERR_NO_MEMORY, "stream", 0},
    {"cuDevicePrimaryCtxRetain", CUDA_ERROR_OUT_OF_MEMORY, GR_ERR_NO_MEMORY, "context", 0},
};

/* Makes the call with this number fail. Calls are counted from 1; 0: no call fails. */
static void let_fail(const struct step *step, long number)
{
    fault->reset();
    failing.function = step->function;
    failing.left = step->code ? 0 : number;
    if (step->code && number)
        ck_assert(fault->set(step->function, (int)step->code, number - 1));
}

/* Cancels let_fail(). Returns whether that call was made. */
static bool has_failed(const struct step *step, long number)
{
    bool failed =
        step->code ? fault->calls(step->function) >= (unsigned long)number : failing.left == 0;
    failing.left = 0;
    if (step->code)
        fault->set(step->function, 0, 0);
    return number && failed;
}

static unsigned long streams_made(const struct step *step, bool failed)
{
    bool one_less = failed && strcmp(step->function, "cuStreamCreate") == 0;
    return fault->calls("cuStreamCreate") - one_less;
}

/* ---- Both ends of a ring --------------------------------------------------------------------- */

struct ends {
    struct pair pair;
    struct shared_ring sent;
    gr_ring *received;
};

/* Vulkan is the producer, so that grinterop may have to relay the signals of its semaphores. */
static struct ends ends_begin(void)
{
    return (struct ends){
        .pair = pair_make(),
        .sent = shared_ring_begin(SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS),
    };
}

/*
 * Sends and receives the ring. After a successful call grinterop owns the socket. No context is
 * current, so grinterop retains the primary context.
 */
static gr_status share(struct ends *ends)
{
    CU(CtxSetCurrent(NULL));
    gr_status status =
        gr_ring_send(ends->pair.here, ends->sent.ring, GR_RING_PRODUCER, NULL, 0, SOON);
    if (status == GR_OK) {
        ends->pair.here = -1;
        ends->received = gr_ring_receive(ends->pair.there, NULL, 0, NULL, SOON);
        status = ends->received ? GR_OK : gr_last_error()->status;
    }
    if (status == GR_OK)
        ends->pair.there = -1;
    CU(CtxSetCurrent(fx.context));
    return status;
}

static void ends_end(struct ends *ends)
{
    gr_ring_free(ends->received);
    vulkan_host_end(ends->sent.host);
    shared_ring_end(&ends->sent);
    pair_close(&ends->pair);
}

GROUP("steps that fail", add_vulkan_case)

/* Shares a ring while the call with that number fails. Returns false if there are fewer calls. */
static bool fails_cleanly(const struct step *step, long number)
{
    gr_resource_free(must_create(64, GR_READ_WRITE)); /* creates the semaphores of the device */
    int fds = open_fds();
    struct ends ends = ends_begin();
    let_fail(step, number);
    gr_status status = share(&ends);
    bool failed = has_failed(step, number);
    ck_assert_msg(fcntl(0, F_GETFD) != -1, "%s %ld closed standard input", step->function, number);
    if (failed)
        assert_error(step->status, step->error ? step->error : (int)step->code, step->text);
    ck_assert_msg(status == (failed ? step->status : GR_OK), "%s %ld returned %s", step->function,
                  number, gr_status_name(status));
    ends_end(&ends);
    ck_assert_uint_eq(fault->calls("cuStreamDestroy"), streams_made(step, failed));
    ck_assert_msg(open_fds() == fds, "%s %ld left a descriptor", step->function, number);
    return failed;
}

/*
 * Makes the table of live objects complete. Its parts are allocated with the first object whose
 * address belongs to them, and a failure of that allocation is no error.
 */
static void complete_live_table(void)
{
    gr_resource *list[128];
    for (int i = 0; i < 128; i++)
        list[i] = must_create(64, GR_READ_WRITE);
    free_resources(list, 128);
}

/*
 * Catches: when the CUDA context could not be retained, standard input was closed. When the event
 * descriptor could not be created, the streams of the relays leaked, and the call returned the
 * wrong error.
 */
VULKAN_TEST(sharing_names_the_failed_step_and_leaks_nothing, sizeof(steps) / sizeof(*steps))
{
    const struct step *step = &steps[_i];
    const char *cannot = step->code ? NULL : cannot_fail(step->function);
    if (cannot)
        skip("%s overrides %s() itself", cannot, step->function);
    Dl_info info;
    ck_assert(dladdr(dlsym(RTLD_DEFAULT, "gr_library_version"), &info));
    grinterop = info.dli_fbase;
    complete_live_table();
    fails_cleanly(step, 0); /* creates what grinterop keeps and reuses */
    long number = 1;
    while (fails_cleanly(step, number) && number < MOST_TIMES)
        number++;
    ck_assert_int_gt(number, 1);
    ck_assert_int_lt(number, MOST_TIMES);
}

GROUP("captures", add_vulkan_case)

/*
 * Catches: after a refused hand-over the link recorded an event in the capturing stream, which
 * became part of the graph.
 */
VULKAN_TEST(refused_calls_of_a_shared_ring_add_nothing_to_a_graph)
{
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slot, *other;
    for (unsigned i = 1; i <= SLOTS_OF_TWO; i++) {
        assert_ok(cuda_writes(two.received));
        ck_assert_uint_eq(vulkan_reads(&two.sent), i);
    }
    assert_ok(gr_ring_acquire_write(two.received, fx.other, &slot, 1, SOON));
    CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), SLOTS_OF_TWO + 1, SLOT_SIZE, fx.other));
    fault->reset();
    capture_graph_relaxed(fx.other);
    assert_fails(gr_ring_hand_over(two.received, &slot, 1), GR_ERR_STATE,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "is capturing a graph");
    assert_fails(gr_ring_acquire_write(two.received, fx.other, &other, 1, SOON), GR_ERR_STATE,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "is capturing a graph");
    ck_assert_uint_eq(fault->calls("cuEventRecord"), 0);
    ck_assert_uint_eq(fault->calls("cuStreamWaitEvent"), 0);
    capture_graph(NULL);
    assert_ok(gr_ring_hand_over(two.received, &slot, 1));
    ck_assert_uint_eq(vulkan_reads(&two.sent), SLOTS_OF_TWO + 1);
    two_end(&two);
}

START(fault_control_start())
