/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes the calls whose instructions test_speed.sh counts with callgrind. Calls that are not
 * counted precede each row, because the first use of an object allocates.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>
#include <grinterop/share.h>
#include <grinterop/vk.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(title) need(false, "valgrind/callgrind.h was missing")
#endif

enum { CALLS = 32, BYTES = 16, BATCH = 32, MANY_SLOTS = 1000, TIMEOUT_MS = 10000 };

/* The host signals this value in advance, so that no stream waits for Vulkan. */
static const uint64_t PASSED = UINT64_C(1) << 40;

static CUstream stream;
static gr_vk_device *device;
static const gr_vk_headless_info *vulkan;

static void end_unless(bool done, const char *outcome, const char *what, int status)
{
    if (done)
        return;
    printf("%s: %s: %s\n", outcome, what, gr_last_error()->message);
    exit(status);
}

static void must(bool done, const char *what)
{
    end_unless(done, "failed", what, 1);
}

/* Skips all rows if something is missing here, for example Vulkan. */
static void need(bool found, const char *what)
{
    end_unless(found, "skipped", what, 77);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/*
 * Resources that are mapped together, or in turn by calls of their own, because the place of an
 * object in the table of live objects changes the cost. `submits`: Vulkan uses them before each
 * map.
 */
struct group {
    bool together, submits;
    unsigned turn;
    gr_resource *resources[BATCH];
    gr_buffer *buffers[BATCH];
};

static struct group gl_one, gl_batch = {.together = true};
static struct group vk_none, vk_release, vk_both = {.submits = true};
static struct group vk_batch_release = {.together = true};
static struct group vk_batch = {.together = true, .submits = true};

static gr_resource *gl_resource(void)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, BYTES, NULL, GL_DYNAMIC_DRAW);
    return gr_from_gl_buffer(name, GR_READ_WRITE);
}

static gr_resource *vk_resource(void)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = BYTES,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    return gr_create_vk_buffer(device, &info, GR_READ_WRITE);
}

/* A new timeline semaphore; `passed` says whether all waits for it pass. */
static gr_semaphore *semaphore(bool passed)
{
    gr_semaphore *made = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
    need(made, "gr_semaphore_create_vk");
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = gr_vk_semaphore(made),
                                        .value = PASSED};
    PFN_vkSignalSemaphore signal = (PFN_vkSignalSemaphore)vulkan->get_instance_proc_addr(
        vulkan->instance, "vkSignalSemaphore");
    must(!passed || signal(vulkan->device, &info) == VK_SUCCESS, "vkSignalSemaphore");
    return made;
}

static void make(struct group *group, gr_resource *(*one)(void), gr_semaphore *acquire,
                 gr_semaphore *release)
{
    for (size_t i = 0; i < BATCH; i++) {
        group->resources[i] = one();
        must(group->resources[i], "creating a resource");
        if (acquire)
            must(gr_resource_set_sync(group->resources[i], acquire, release) == GR_OK,
                 "gr_resource_set_sync");
    }
}

static void submit(gr_resource *const resources[], size_t n)
{
    gr_submit *begun = gr_submit_begin(resources, n);
    must(begun && gr_submit_commit(begun) == GR_OK, "gr_submit_commit");
    gr_submit_free(begun);
}

static void map_and_release(void *of)
{
    struct group *group = of;
    gr_resource **resources = group->resources + (group->together ? 0 : group->turn++ % BATCH);
    if (group->submits)
        submit(resources, group->together ? BATCH : 1);
    if (group->together) {
        must(gr_map_many(resources, BATCH, stream, NULL, group->buffers) == GR_OK, "gr_map_many");
        must(gr_buffer_release_many(group->buffers, BATCH, GR_STREAM_OF_MAP, NULL) == GR_OK,
             "gr_buffer_release_many");
    } else {
        gr_buffer *buffer = gr_map(resources[0], stream);
        must(buffer && gr_buffer_release(buffer) == GR_OK, "gr_map");
    }
}

/* ---- Publishing ------------------------------------------------------------------------------ */

static gr_tensor *tensor;

static void publish(void *of)
{
    must(gr_publish(*(gr_resource **)of, tensor, NULL, stream) == GR_OK, "gr_publish");
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* A ring from CUDA to Vulkan. A shared ring has both processes' sides in this process. */
struct pair {
    gr_ring *writer, *reader;
};

static void frame(void *of)
{
    const struct pair *pair = of;
    const gr_slot *slot;
    must(gr_ring_acquire_write(pair->writer, stream, &slot, 1, TIMEOUT_MS) == GR_OK &&
             gr_ring_hand_over(pair->writer, &slot, 1) == GR_OK,
         "writing a frame");
    must(gr_ring_acquire_read(pair->reader, GR_STREAM_NONE, &slot, 1, TIMEOUT_MS) == GR_OK &&
             gr_submit_commit(slot->submit) == GR_OK &&
             gr_ring_give_back(pair->reader, &slot, 1) == GR_OK,
         "reading a frame");
}

static void *receive(void *socket)
{
    return gr_ring_receive(*(int *)socket, NULL, 0, NULL, TIMEOUT_MS);
}

/* Sends the ring to a thread of this process, since the socket cannot hold all messages. */
static gr_ring *send_ring(gr_ring *ring)
{
    int ends[2];
    pthread_t thread = 0;
    void *received = NULL;
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 &&
             pthread_create(&thread, NULL, receive, &ends[1]) == 0,
         "creating a thread");
    gr_status status = gr_ring_send(ends[0], ring, GR_RING_CONSUMER, NULL, 0, TIMEOUT_MS);
    pthread_join(thread, &received);
    must(status == GR_OK && received, "gr_ring_send");
    return received;
}

static void make_ring(struct pair *pair, size_t slots, bool is_shared)
{
    static gr_resource *resources[MANY_SLOTS];
    gr_semaphore *acquire = semaphore(true), *release = semaphore(false);
    for (size_t i = 0; i < slots; i++) {
        resources[i] = vk_resource();
        must(resources[i] && gr_resource_set_sync(resources[i], acquire, release) == GR_OK,
             "creating a slot");
    }
    pair->writer = pair->reader = gr_ring_create(resources, slots, NULL);
    must(pair->writer, "gr_ring_create");
    for (size_t i = 0; i < slots; i++)
        gr_resource_free(resources[i]);
    if (is_shared)
        pair->writer = send_ring(pair->reader);
    for (size_t i = 0; i < slots; i++) /* each slot creates its objects at its first use */
        frame(pair);
}

/* ---- The rows -------------------------------------------------------------------------------- */

/* Writes the costs of a row to a file of callgrind, with the number of calls. */
static void measure(const char *name, void (*call)(void *of), void *of)
{
    char title[64];
    snprintf(title, sizeof(title), "%s %d", name, CALLS);
    for (int i = 0; i < CALLS; i++)
        call(of);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < CALLS; i++)
        call(of);
    CALLGRIND_DUMP_STATS_AT(title);
    CALLGRIND_STOP_INSTRUMENTATION;
}

static void open_vulkan(void)
{
    const gr_vk_headless_info *h = vulkan = gr_vk_headless_get_info(gr_vk_headless_create(NULL));
    need(h, "gr_vk_headless_create");
    device = gr_vk_device_from_vk(&GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr,
                                           h->instance, h->physical_device, h->device, h->graphics,
                                           h->graphics_family));
    need(device, "gr_vk_device_from_vk");
}

static void open_cuda(void)
{
    CUcontext context;
    const gr_cuda_api *cu = gr_cuda();
    need(cu, "gr_cuda");
    must(cu->DevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
             cu->CtxSetCurrent(context) == CUDA_SUCCESS &&
             cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS,
         "creating a CUDA stream");
}

static void measure_maps(void)
{
    static const int64_t shape[] = {BYTES};
    make(&gl_one, gl_resource, NULL, NULL);
    make(&gl_batch, gl_resource, NULL, NULL);
    make(&vk_none, vk_resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE);
    make(&vk_release, vk_resource, semaphore(true), semaphore(false));
    make(&vk_both, vk_resource, semaphore(true), semaphore(false));
    make(&vk_batch_release, vk_resource, semaphore(true), semaphore(false));
    make(&vk_batch, vk_resource, semaphore(true), semaphore(false));
    tensor = gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape), stream);
    must(tensor, "gr_tensor_create");
    measure("gl_one", map_and_release, &gl_one);
    measure("gl_batch", map_and_release, &gl_batch);
    measure("vk_none", map_and_release, &vk_none);
    measure("vk_release", map_and_release, &vk_release);
    measure("vk_both", map_and_release, &vk_both);
    measure("vk_batch_release", map_and_release, &vk_batch_release);
    measure("vk_batch", map_and_release, &vk_batch);
    measure("publish_buffer", publish, &gl_one.resources[0]);
}

static void measure_ring(const char *name, size_t slots, bool is_shared)
{
    struct pair pair;
    make_ring(&pair, slots, is_shared);
    measure(name, frame, &pair);
}

int main(void)
{
    need(gr_egl_create(NULL), "gr_egl_create");
    open_cuda();
    open_vulkan();
    measure_maps();
    measure_ring("ring_2", 2, false);
    measure_ring("ring_1000", MANY_SLOTS, false);
    measure_ring("shared_ring_2", 2, true); /* starts threads, which belong to the cost */
    measure_ring("shared_ring_1000", MANY_SLOTS, true);
    /* The objects are not freed, because this would only take time under valgrind. */
    fflush(stdout);
    _Exit(0);
}
