/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings whose peer is a hostile process that does anything at any time. This process sends a ring,
 * receives one, or does both. Every call may exceed its timeout by no more than the bound. After
 * gr_ring_free() the streams become idle, an unrelated resource can be mapped and freed, and no
 * descriptor stays open.
 *
 *     test_random_peer                                a bounded run, for make check
 *     test_random_peer --rings N --seed N             N rounds, each with the next seed
 *     test_random_peer --seconds N                    as many rounds as there is time for
 *     test_random_peer --role sender|receiver|both    default: each round picks one
 *     test_random_peer --bound MS                     how late a call may be; default 10000
 *
 * A failure prints the seed of its round. The seed decides what both sides do, but the scheduler
 * decides when: repeat the round a few times.
 */
#define _GNU_SOURCE
#include "random_peer.h"
#include "tests/support/random_walk.h"
#include "tests/support/support.h"

#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/fd_message.h"

#include <grinterop/share.h>

#define SIZE       4096
#define STEPS      120
#define SEND_MS    2000
#define RECEIVE_MS 200

/* The program may run this number of seconds longer than --seconds. */
#define SECONDS_FOR_ALL 800

/* How long gr_ring_free() waits for a peer, in milliseconds. */
#define FREE_MS 2000

/* The process may grow by at most MOST_GROWTH bytes after the first WARM_UP rings. */
#define WARM_UP     100
#define MOST_GROWTH (64l << 20)

enum role { SENDER, RECEIVER, BOTH, ANY };

static struct {
    uint32_t seed;
    unsigned rings, seconds, bound;
    enum role role;
} options = {.seed = 20261122, .rings = 300, .bound = 10000, .role = ANY};

static int server;

/*
 * The counts of all rings: received rings, slots handed over, and peers that were detected as
 * hostile.
 */
static unsigned received, handed_on, found_out;

/* The state of the current ring. */
static uint32_t ring_seed, state;
static enum role ring_role;

static uint32_t below(uint32_t n)
{
    return walk_random(&state, n);
}

static _Noreturn void give_up(const char *what)
{
    static const char *const names[] = {"sender", "receiver", "both"};
    printf("random peer: FAILED: %s\n  --role %s --seed %u --rings 1\n", what, names[ring_role],
           ring_seed);
    fflush(stdout);
    abort(); /* writes a core file, which shows all threads */
}

static void must(bool good, const char *what)
{
    char text[600];
    if (good)
        return;
    snprintf(text, sizeof(text), "%s: %s", what, gr_last_error()->message);
    give_up(text);
}

/* ---- Call time limits ------------------------------------------------------------------------ */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *_Atomic call;
static _Atomic int64_t due;
static atomic_bool over;

/* Runs on another thread and detects a call that does not return. */
static void *watch(void *unused)
{
    char text[100];
    while (!atomic_load(&over)) {
        usleep(100000);
        const char *late = call;
        if (!late || now_ms() < due)
            continue;
        snprintf(text, sizeof(text), "%s did not return in time", late);
        give_up(text);
    }
    return unused;
}

static void begin_call(const char *name, unsigned timeout_ms)
{
    due = now_ms() + timeout_ms + options.bound;
    call = name;
}

static void end_call(void)
{
    call = NULL;
}

#define TIMED(timeout_ms, name, what)                                                              \
    do {                                                                                           \
        begin_call(name, timeout_ms);                                                              \
        what;                                                                                      \
        end_call();                                                                                \
    } while (0)

/* ---- A ring ---------------------------------------------------------------------------------- */

struct ring {
    gr_ring *ring;
    bool writes, is_cuda;
    gr_buffer *out[PEER_SLOTS]; /* the buffers of slots that were never handed over */
};

static gr_resource *make_buffer(void)
{
    return gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing);
}

static gr_ring *make_ring(bool cuda_writes)
{
    gr_resource *resources[PEER_SLOTS];
    for (int i = 0; i < PEER_SLOTS; i++) {
        TIMED(0, "gr_create_gl_buffer()", resources[i] = make_buffer());
        must(resources[i], "no buffer");
    }
    gr_ring *ring = gr_ring_create(
        resources, PEER_SLOTS,
        &GR_INIT(gr_ring_options, .producer = cuda_writes ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS,
                 .mode = below(2) ? GR_RING_NEWEST : GR_RING_LOSSLESS));
    must(ring, "no ring");
    free_resources(resources, PEER_SLOTS);
    return ring;
}

static int start_peer(bool sends, bool writes)
{
    int ends[2];
    const struct peer_job job = {.seed = ring_seed, .sends = sends, .writes = writes};
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair()");
    must(peer_start(server, &job, ends[1]), "the server of the peers has gone");
    return ends[0];
}

static struct ring send_ring(void)
{
    struct ring r = {.writes = below(2), .is_cuda = below(2)};
    gr_status status;
    r.ring = make_ring(r.writes == r.is_cuda);
    int socket = start_peer(false, !r.writes);
    TIMED(SEND_MS, "gr_ring_send()",
          status = gr_ring_send(socket, r.ring, r.writes ? GR_RING_PRODUCER : GR_RING_CONSUMER,
                                NULL, 0, SEND_MS));
    if (status != GR_OK)
        close(socket);
    must(status == GR_OK || status == GR_ERR_SYSTEM || status == GR_ERR_TIMEOUT, "gr_ring_send()");
    return r;
}

static struct ring receive_ring(void)
{
    struct ring r = {.writes = below(2), .is_cuda = true};
    int socket = start_peer(true, !r.writes);
    unsigned timeout = below(RECEIVE_MS);
    TIMED(timeout, "gr_ring_receive()", r.ring = gr_ring_receive(socket, NULL, 0, NULL, timeout));
    if (!r.ring)
        close(socket);
    received += r.ring != NULL;
    return r;
}

static void pause_us(void *user)
{
    usleep((useconds_t)(uintptr_t)user);
}

/* Submits CUDA work: usually little, sometimes so much that the stream comes late to its waits. */
static void work(const gr_slot *slot, CUstream stream)
{
    if (below(16) == 0)
        CU(LaunchHostFunc(stream, pause_us, (void *)(uintptr_t)below(30000)));
    CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), 1, SIZE, stream));
}

static gr_status hand_on(const struct ring *r, const gr_slot *slots[], size_t n, bool cancels)
{
    gr_status status;
    if (r->writes)
        TIMED(0, "handing on",
              status = (cancels ? gr_ring_cancel_write : gr_ring_hand_over)(r->ring, slots, n));
    else
        TIMED(0, "handing on",
              status = (cancels ? gr_ring_cancel_read : gr_ring_give_back)(r->ring, slots, n));
    return status;
}

/*
 * Acquires slots and hands them over. Returns false if the ring is no longer usable, or if this
 * process decides to keep the slots.
 */
static bool use(struct ring *r, bool is_last)
{
    const gr_slot *slots[PEER_SLOTS];
    size_t n = 1 + below(PEER_SLOTS);
    unsigned timeout = below(3) ? 0 : below(6);
    CUstream stream = !r->is_cuda ? GR_STREAM_NONE : below(2) ? fx.stream : fx.other;
    gr_status status;
    TIMED(timeout, r->writes ? "gr_ring_acquire_write()" : "gr_ring_acquire_read()",
          status = (r->writes ? gr_ring_acquire_write : gr_ring_acquire_read)(r->ring, stream,
                                                                              slots, n, timeout));
    must(status == GR_OK || status == GR_ERR_NOT_READY || status == GR_ERR_TIMEOUT ||
             status == GR_ERR_STOPPED || status == GR_ERR_SYSTEM,
         "acquire");
    found_out += status == GR_ERR_SYSTEM;
    if (status != GR_OK)
        return status != GR_ERR_SYSTEM && (status != GR_ERR_STOPPED || below(4));
    for (size_t i = 0; i < n && r->is_cuda; i++)
        work(slots[i], stream);
    if (below(is_last ? 2 : 100) == 0) {
        for (size_t i = 0; i < n; i++)
            r->out[i] = slots[i]->buffer;
        return false;
    }
    status = hand_on(r, slots, n, is_last || below(4) == 0);
    must(status == GR_OK, "handing on");
    handed_on += (unsigned)n;
    return true;
}

/*
 * The streams come to their waits only after the ring is freed, at a time that no signal announces.
 */
static void use_late(struct ring *r)
{
    uint32_t us = below(50000);
    CU(LaunchHostFunc(fx.stream, pause_us, (void *)(uintptr_t)us));
    CU(LaunchHostFunc(fx.other, pause_us, (void *)(uintptr_t)us));
    for (int i = 0; i < 4 && use(r, true); i++)
        continue;
}

static void end_ring(struct ring *r)
{
    if (below(4) == 0)
        gr_ring_stop(r->ring);
    TIMED(FREE_MS, "gr_ring_free()", gr_ring_free(r->ring));
    for (int i = 0; i < PEER_SLOTS; i++)
        if (r->out[i])
            TIMED(0, "gr_buffer_release()", gr_buffer_release(r->out[i]));
}

/* ---- Requirements afterwards ----------------------------------------------------------------- */

static void check_resource(void)
{
    gr_resource *resource;
    gr_buffer *buffer;
    TIMED(0, "gr_create_gl_buffer()", resource = make_buffer());
    must(resource, "an unrelated buffer");
    TIMED(0, "gr_map()", buffer = gr_map(resource, fx.stream));
    must(buffer, "gr_map() of an unrelated buffer");
    TIMED(0, "gr_buffer_release()", gr_buffer_release(buffer));
    TIMED(0, "gr_resource_free()", gr_resource_free(resource));
}

/*
 * Checks for leaked descriptors. Waits for a while, since the link of a freed ring keeps its
 * descriptors until its work has ended.
 */
static void check_descriptors(int before)
{
    int64_t end = now_ms() + options.bound;
    while (open_fds() > before && now_ms() < end) {
        usleep(2000);
        check_resource();
    }
    char text[100];
    snprintf(text, sizeof(text), "%d descriptors are open, not %d", open_fds(), before);
    if (open_fds() > before)
        give_up(text);
}

/* Returns the resident memory of the process in bytes. */
static long size_now(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void run_ring(uint32_t seed)
{
    struct ring rings[2] = {{0}};
    ring_seed = seed;
    state = walk_start(seed);
    /* The random number is always drawn, so that --role does not change the later ones. */
    enum role any = below(3);
    ring_role = options.role == ANY ? any : options.role;
    if (ring_role != RECEIVER)
        rings[0] = send_ring();
    if (ring_role != SENDER)
        rings[1] = receive_ring();
    bool lives[] = {rings[0].ring, rings[1].ring};
    for (uint32_t step = below(STEPS); step > 0 && (lives[0] || lives[1]); step--)
        for (int i = 0; i < 2; i++)
            lives[i] = lives[i] && use(&rings[i], false);
    for (int i = 0; i < 2; i++)
        if (lives[i] && below(2))
            use_late(&rings[i]);
    if (below(8) == 0)
        usleep(below(700000)); /* time for grinterop to detect a reset of a semaphore */
    uint32_t first = below(2);
    end_ring(&rings[first]);
    end_ring(&rings[!first]);
    TIMED(0, "cuStreamSynchronize()", CU(StreamSynchronize(fx.stream)));
    TIMED(0, "cuStreamSynchronize()", CU(StreamSynchronize(fx.other)));
    check_resource();
    gr_clear_error();
}

static void run_all(void)
{
    int64_t begin = now_ms();
    int fds = open_fds();
    long size = 0, largest = 0;
    unsigned i = 0;
    for (; options.seconds ? now_ms() - begin < options.seconds * 1000ll : i < options.rings; i++) {
        run_ring(options.seed + i);
        check_descriptors(fds);
        if (i == WARM_UP)
            size = size_now();
        largest = size_now();
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (i > WARM_UP && largest - size > MOST_GROWTH)
        give_up("the process has grown by more than 64 MiB");
#endif
    printf("random peer: seeds %u to %u: %u rounds in %.1f s, %ld KiB more; %u rings received, %u "
           "slots handed over, "
           "%u peers detected\n",
           options.seed, options.seed + i - 1, i, (double)(now_ms() - begin) / 1000,
           size ? (largest - size) / 1024 : 0, received, handed_on, found_out);
}

/* Sends the server the messages of an honest sender, which the peers modify. */
static void teach(void)
{
    struct peer_messages messages;
    int ends[2];
    size_t taken = 0;
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair()");
    GR_AUTO(gr_ring) *ring = make_ring(false);
    must(gr_ring_send(ends[0], ring, GR_RING_CONSUMER, NULL, 0, SEND_MS) == GR_OK,
         "gr_ring_send()");
    for (int i = 0; i < PEER_MESSAGES; i++) {
        size_t count = PEER_FDS - taken;
        messages.sizes[i] = (size_t)fd_receive(ends[1], messages.bytes[i], PEER_ROOM,
                                               messages.fds + taken, &count, 0);
        taken += count;
    }
    must(taken == PEER_FDS && peer_teach(server, &messages), "teaching the peers");
    for (int i = 0; i < PEER_FDS; i++)
        close(messages.fds[i]);
    close(ends[1]);
}

GROUP("random peer", add_case)

TEST(calls_return_in_time_whatever_the_peer_does)
{
    pthread_t watcher;
    if (!gr_cuda_is_software())
        skip("a GPU's semaphores are not memory that a peer can write to");
    gr_resource *resource = make_buffer();
    if (!resource)
        skip("%s", error_text());
    gr_resource_free(resource);
    alarm(options.seconds ? options.seconds + SECONDS_FOR_ALL : SECONDS_FOR_ALL);
    must(pthread_create(&watcher, NULL, watch, NULL) == 0, "pthread_create()");
    teach();
    run_ring(options.seed); /* lets drivers open the descriptors that they keep */
    run_all();
    atomic_store(&over, true);
    pthread_join(watcher, NULL);
}

/* ---- Options --------------------------------------------------------------------------------- */

static const struct option names[] = {
    {"seed", required_argument, NULL, 's'},    {"rings", required_argument, NULL, 'r'},
    {"seconds", required_argument, NULL, 't'}, {"role", required_argument, NULL, 'o'},
    {"bound", required_argument, NULL, 'b'},   {NULL, 0, NULL, 0},
};

static bool read_role(const char *name)
{
    static const char *const roles[] = {"sender", "receiver", "both"};
    for (enum role i = SENDER; i < ANY; i++)
        if (strcmp(name, roles[i]) == 0)
            options.role = i;
    return options.role != ANY;
}

static bool read_options(int argc, char **argv)
{
    bool good = true;
    for (int c; good && (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        unsigned number = optarg ? (unsigned)strtoul(optarg, NULL, 10) : 0;
        if (c == 's')
            options.seed = number;
        else if (c == 'r')
            options.rings = number;
        else if (c == 't')
            options.seconds = number;
        else if (c == 'b')
            options.bound = number;
        else
            good = c == 'o' && read_role(optarg);
    }
    return good && optind == argc;
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv)) {
        fputs("usage: test_random_peer [--rings N | --seconds N] [--seed N] [--bound MS]\n"
              "                        [--role sender|receiver|both]\n",
              stderr);
        return 2;
    }
    server = peer_server_start(); /* before there is a second thread */
    if (server < 0)
        return 2;
    return run_tests(1, argv);
}
