/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Single resources: their bytes in both processes, their semaphores, and the resources that cannot
 * be sent.
 */
#define _GNU_SOURCE
#include "share_ring.h"
#include "tests/support/descriptors.h"
#include "tests/support/support_vulkan_image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One copy can transfer an image of this size. */
#define IMAGE_WIDTH  40
#define IMAGE_HEIGHT 24

GROUP("bytes between processes", add_share_case)

static void read_and_write(int socket, gr_resource *resource)
{
    gr_buffer *buffer = gr_map(resource, fx.stream);
    child_check(buffer);
    child_check(gr_buffer_size(buffer) == SHARE_SIZE);
    assert_cuda_pattern(buffer, 1);
    cuda_write_pattern(buffer, 2);
    must_release(buffer);
    tell(socket);
    gr_resource_free(resource);
    close(socket);
}

/*
 * The child has no graphics API. It reads a pattern, writes the next one and ends. The semaphores
 * of a Vulkan device or an OpenGL context are not sent, so the test orders the uses of the resource
 * itself.
 */
void job_reads_and_writes(int socket)
{
    gr_resource *resource = must_make(gr_resource_receive(socket, NULL, 0, NULL, SOON));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_resource_set_sync");
    read_and_write(socket, unordered(resource));
}

VULKAN_TEST(both_processes_see_the_bytes_of_a_vulkan_buffer)
{
    struct peer peer = peer_start("reads_and_writes");
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    vulkan_write_pattern(gr_vk_buffer(resource), SHARE_SIZE, 1);
    int fds = open_fds();
    assert_ok(gr_resource_send(peer.socket, resource, NULL, 0, SOON));
    ck_assert(open_fds_become(fds));
    hear(peer.socket);
    assert_vulkan_pattern(gr_vk_buffer(resource), SHARE_SIZE, 2);
    peer_end(&peer, false);
}

/* The buffer is in a part of memory of the application, or in dedicated memory. */
VULKAN_TEST(both_processes_see_bytes_in_the_applications_memory, 2)
{
    struct peer peer = peer_start("reads_and_writes");
    struct vulkan_own own = vulkan_own(SHARE_SIZE, _i == 1);
    GR_AUTO(gr_resource) *resource = must_register_own(&own, SHARE_SIZE, GR_READ_WRITE);
    vulkan_write_pattern(own.buffer, SHARE_SIZE, 1);
    assert_ok(gr_resource_send(peer.socket, resource, NULL, 0, SOON));
    hear(peer.socket);
    assert_vulkan_pattern(own.buffer, SHARE_SIZE, 2);
    peer_end(&peer, false);
}

static gr_resource *make_shared_opengl_buffer(void)
{
    return gr_create_gl_buffer(SHARE_SIZE, GR_READ_WRITE, &by_sharing);
}

static void send_opengls(gr_resource *resource, const struct peer *peer)
{
    unsigned char bytes[SHARE_SIZE];
    pattern_fill(bytes, SHARE_SIZE, 1);
    gl_write(gr_gl_name(resource), bytes, SHARE_SIZE);
    glFinish();
    gr_status status = gr_resource_send(peer->socket, resource, NULL, 0, SOON);
    ck_assert_msg(status == GR_OK, "%s", error_text());
    hear(peer->socket);
    assert_gl_pattern(gr_gl_name(resource), SHARE_SIZE, 2);
}

TEST(both_processes_see_the_bytes_of_an_opengl_buffer)
{
    GR_AUTO(gr_resource) *resource = make_shared_opengl_buffer();
    if (!resource)
        skip("%s", error_text());
    struct peer peer = peer_start("reads_and_writes");
    send_opengls(resource, &peer);
    peer_end(&peer, false);
}

TEST(a_peer_without_vulkan_sees_the_bytes_of_opengl)
{
    GR_AUTO(gr_resource) *resource = make_shared_opengl_buffer();
    if (!resource)
        skip("%s", error_text());
    struct peer peer = peer_without_vulkan();
    send_opengls(resource, &peer);
    peer_end_alone(&peer);
}

static unsigned char texel(unsigned x, unsigned y, unsigned c)
{
    return (unsigned char)(7 * x + 13 * y + 31 * c + 5);
}

/* Another device cannot import an image, so the current context of one is not used. */
void job_reads_an_image(int socket)
{
    static unsigned char bytes[IMAGE_HEIGHT][IMAGE_WIDTH][4];
    CUcontext other = NULL;
    int devices = 0;
    CU(DeviceGetCount(&devices));
    if (devices > 1) {
        CU(DevicePrimaryCtxRetain(&other, !fx.device));
        CU(CtxSetCurrent(other));
    }
    gr_resource *resource = unordered(gr_resource_receive(socket, NULL, 0, NULL, SOON));
    CU(CtxSetCurrent(fx.context));
    if (other)
        CU(DevicePrimaryCtxRelease(!fx.device));
    gr_buffer *buffer = gr_map(resource, fx.stream);
    child_check(buffer);
    CUarray array = gr_buffer_array(buffer, 0, 0);
    child_check(array);
    copy_array(array, bytes, sizeof(bytes[0]), IMAGE_HEIGHT, false);
    CU(StreamSynchronize(fx.stream));
    for (unsigned y = 0; y < IMAGE_HEIGHT; y++)
        for (unsigned x = 0; x < IMAGE_WIDTH; x++)
            for (unsigned c = 0; c < 4; c++)
                ck_assert_uint_eq(bytes[y][x][c], texel(x, y, c));
    must_release(buffer);
    tell(socket);
    gr_resource_free(resource);
    close(socket);
}

/* CUDA in this process writes the texels, and CUDA in the peer reads them. */
VULKAN_IMAGE_TEST(both_processes_see_the_texels_of_a_vulkan_image)
{
    static unsigned char bytes[IMAGE_HEIGHT][IMAGE_WIDTH][4];
    struct peer peer = peer_start("reads_an_image");
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", IMAGE_WIDTH,
                                             IMAGE_HEIGHT, 1, 0, GR_READ_WRITE);
    for (unsigned y = 0; y < IMAGE_HEIGHT; y++)
        for (unsigned x = 0; x < IMAGE_WIDTH; x++)
            for (unsigned c = 0; c < 4; c++)
                bytes[y][x][c] = texel(x, y, c);
    gr_buffer *buffer = must_hand_over(&image);
    copy_array(gr_buffer_array(buffer, 0, 0), bytes, sizeof(bytes[0]), IMAGE_HEIGHT, true);
    must_release(buffer);
    assert_ok(gr_resource_send(peer.socket, image.resource, NULL, 0, SOON));
    hear(peer.socket);
    peer_end(&peer, false);
    gr_resource_free(image.resource);
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

/*
 * The parent submits to Vulkan. This child begins and commits a submit only to reserve the
 * semaphore value that the parent's submit signals, so that its next map waits for that submit.
 */
void job_takes_turns_by_semaphores(int socket)
{
    gr_resource *resource = gr_resource_receive(socket, NULL, 0, NULL, SOON);
    child_check(resource);
    gr_submit *submit = gr_submit_begin(&resource, 1);
    child_check(submit && signal_value_of(submit) == 1);
    child_check(gr_submit_commit(submit) == GR_OK);
    gr_submit_free(submit);
    gr_buffer *buffer = gr_map(resource, fx.stream);
    child_check(buffer);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    tell(socket);
    assert_cuda_bytes(buffer, 0x31);
    cuda_fill(buffer, 0x32);
    must_release(buffer);
    tell(socket);
    gr_resource_free(resource);
    close(socket);
}

VULKAN_TEST(exportable_semaphores_are_sent_with_a_resource)
{
    if (!vk.exports)
        skip("this Vulkan exports no semaphores");
    struct peer peer = peer_start("takes_turns_by_semaphores");
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    GR_AUTO(gr_semaphore) *acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_semaphore) *release = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    assert_ok(gr_resource_set_sync(resource, acquire, release));
    assert_ok(gr_resource_send(peer.socket, resource, NULL, 0, SOON));
    hear(peer.socket);
    gr_submit *submit = vulkan_begin_submit(&resource, 1);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(resource), SHARE_SIZE, 0x31);
    vulkan_submit_begun(commands, submit, NULL);
    hear(peer.socket);
    vulkan_finish();
    assert_vulkan_bytes(gr_vk_buffer(resource), SHARE_SIZE, 0x32);
    peer_end(&peer, false);
}

GROUP("bytes sent along", add_vulkan_case)

static unsigned char sent[GR_SHARE_MOST_DATA + 1], got[GR_SHARE_MOST_DATA];

static void fill_sent(void)
{
    for (size_t i = 0; i < sizeof(sent); i++)
        sent[i] = (unsigned char)(i * 7 + i / 256);
}

VULKAN_TEST(application_data_is_sent_with_a_resource)
{
    static const size_t sizes[] = {0, 1, 300, GR_SHARE_MOST_DATA};
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    fill_sent();
    for (int i = 0; i < 4; i++) {
        size_t size = 12345;
        memset(got, 0, sizeof(got));
        assert_ok(gr_resource_send(pair.here, resource, sent, sizes[i], SOON));
        gr_resource_free(must_make(gr_resource_receive(pair.there, got, sizeof(got), &size, SOON)));
        ck_assert_uint_eq(size, sizes[i]);
        ck_assert(memcmp(got, sent, size) == 0);
    }
    pair_close(&pair);
}

/*
 * A refused receive loses no bytes: the next call passes more space, or is the right call for this
 * kind of message.
 */
VULKAN_TEST(application_data_is_kept_if_the_space_is_too_small)
{
    size_t size = 0;
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    fill_sent();
    int fds = open_fds();
    assert_ok(gr_resource_send(pair.here, resource, sent, 300, SOON));
    assert_null_invalid(gr_resource_receive(pair.there, NULL, 0, &size, SOON),
                        "The sender's data has the size 300, but there is room for 0");
    ck_assert_uint_eq(size, 300);
    assert_null_invalid(gr_resource_receive(pair.there, got, 299, NULL, SOON),
                        "Nothing was consumed");
    assert_null_invalid(gr_ring_receive(pair.there, got, 300, &size, SOON), "kind");
    ck_assert(open_fds_become(fds));
    size = 0;
    gr_resource *taken = must_make(gr_resource_receive(pair.there, got, 300, &size, SOON));
    ck_assert_uint_eq(size, 300);
    ck_assert(memcmp(got, sent, 300) == 0);
    gr_resource_free(taken);
    pair_close(&pair);
}

VULKAN_TEST(too_much_application_data_is_refused)
{
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    assert_invalid(gr_resource_send(pair.here, resource, sent, sizeof(sent), 0), "`size` is 65537");
    assert_invalid(gr_resource_send(pair.here, resource, NULL, 1, 0), "`data` is NULL");
    assert_null_invalid(gr_resource_receive(pair.there, NULL, 1, NULL, 0), "`data` is NULL");
    assert_null_invalid(gr_ring_receive(pair.there, NULL, 1, NULL, 0), "`data` is NULL");
    pair_close(&pair);
}

GROUP("what is refused", add_vulkan_case)

VULKAN_TEST(unsuitable_resources_are_not_sent)
{
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *gl = must_register(gl_buffer_filled(64, 1));
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    assert_fails(gr_resource_send(pair.here, gl, NULL, 0, 0), GR_ERR_UNSUPPORTED, 0,
                 "gr_create_gl_buffer");
    gr_buffer *buffer = must_map(resource);
    assert_fails(gr_resource_send(pair.here, resource, NULL, 0, 0), GR_ERR_STATE, 0, "mapped");
    assert_ok(gr_buffer_release(buffer));
    assert_invalid(gr_resource_send(-1, resource, NULL, 0, 0), "socket");
    assert_invalid(gr_resource_send(fileno(stderr), resource, NULL, 0, 0), "socket");
    int unconnected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_invalid(gr_resource_send(unconnected, resource, NULL, 0, 0), "connected");
    close(unconnected);
    assert_ok(gr_resource_close(resource, fx.stream));
    assert_fails(gr_resource_send(pair.here, resource, NULL, 0, 0), GR_ERR_STATE, 0, "closed");
    pair_close(&pair);
}

VULKAN_TEST(semaphores_that_the_host_signals_are_refused)
{
    if (vk.exports)
        skip("this Vulkan exports its semaphores");
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    GR_AUTO(gr_semaphore) *acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    assert_ok(gr_resource_set_sync(resource, acquire, GR_SEMAPHORE_NONE));
    assert_fails(gr_resource_send(pair.here, resource, NULL, 0, 0), GR_ERR_UNSUPPORTED, 0, "ring");
    pair_close(&pair);
}

VULKAN_TEST(receiving_and_sending_time_out)
{
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    assert_null(gr_resource_receive(pair.there, NULL, 0, NULL, 0), GR_ERR_NOT_READY, 0,
                "not received");
    assert_null(gr_ring_receive(pair.there, NULL, 0, NULL, 0), GR_ERR_NOT_READY, 0, "not received");
    assert_null(gr_resource_receive(pair.there, NULL, 0, NULL, 30), GR_ERR_TIMEOUT, 0, "in time");
    assert_null(gr_ring_receive(pair.there, NULL, 0, NULL, 30), GR_ERR_TIMEOUT, 0, "in time");
    /* Only half of a message arrives. */
    ck_assert_int_eq(send(pair.here, "grsh", 4, 0), 4);
    assert_null(gr_resource_receive(pair.there, NULL, 0, NULL, 30), GR_ERR_TIMEOUT, 0,
                "close the socket");
    pair_close(&pair);
    /* The other end receives nothing, so the buffer of the socket fills. */
    pair = pair_make();
    gr_status status = GR_OK;
    for (int i = 0; i < 100000 && status == GR_OK; i++)
        status = gr_resource_send(pair.here, resource, NULL, 0, 20);
    /* The kernel may fail the send instead: it also limits descriptors in transit. */
    ck_assert_msg(status == GR_ERR_TIMEOUT || status == GR_ERR_SYSTEM, "%s", error_text());
    gr_clear_error();
    pair_close(&pair);
}

VULKAN_TEST(sending_and_receiving_fail_when_the_peer_closed_its_end)
{
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    ck_assert_int_eq(send(pair.there, "grsh", 4, 0), 4);
    close(pair.there);
    pair.there = -1;
    assert_fails(gr_resource_send(pair.here, resource, NULL, 0, SOON), GR_ERR_SYSTEM, EPIPE,
                 "closed its end");
    assert_null(gr_resource_receive(pair.here, NULL, 0, NULL, SOON), GR_ERR_SYSTEM, 0,
                "closed its end");
    pair_close(&pair);
}

/* ---- No descriptor left ---------------------------------------------------------------------- */

/* Checks the error of a call that could open only `more` descriptors. Returns whether it failed. */
static bool lacks_descriptors(gr_status status, struct rlimit before, unsigned more)
{
    setrlimit(RLIMIT_NOFILE, &before);
    ck_assert_uint_lt(more, 32);
    if (status != GR_OK)
        assert_error(GR_ERR_SYSTEM, EMFILE, "ulimit -n");
    return status != GR_OK;
}

/* Sends to a new peer. *peer is the end of the peer. */
static gr_status send_with(unsigned more, gr_resource *resource, gr_ring *ring, struct pair *pair)
{
    *pair = pair_make();
    gr_clear_error();
    const struct rlimit before = limit_descriptors(more);
    gr_status status = ring ? gr_ring_send(pair->here, ring, GR_RING_CONSUMER, NULL, 0, SOON)
                            : gr_resource_send(pair->here, resource, NULL, 0, SOON);
    if (lacks_descriptors(status, before, more)) {
        close(pair->here);
        close(pair->there);
    }
    return status;
}

static gr_status receive_with(unsigned more, int socket, gr_resource **resource, gr_ring **ring)
{
    gr_clear_error();
    const struct rlimit before = limit_descriptors(more);
    if (ring)
        *ring = gr_ring_receive(socket, NULL, 0, NULL, SOON);
    else
        *resource = gr_resource_receive(socket, NULL, 0, NULL, SOON);
    const gr_status status = gr_last_error()->status;
    lacks_descriptors(status, before, more);
    return status;
}

/* Catches: these were invalid values of the caller, such as "fd -1", or of the message. */
VULKAN_TEST(resources_need_free_descriptors)
{
    struct pair pair;
    gr_resource *received = NULL;
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    int fds = open_fds();
    ck_assert_int_eq(send_with(0, resource, NULL, &pair), GR_ERR_SYSTEM);
    ck_assert(open_fds_become(fds));
    for (unsigned more = 0; !received; more++) {
        unsigned enough = 1;
        while (send_with(enough, resource, NULL, &pair) != GR_OK)
            enough++;
        const gr_status status = receive_with(more, pair.there, &received, NULL);
        ck_assert_int_eq(status == GR_ERR_SYSTEM, !received);
        ck_assert(more > 0 || status == GR_ERR_SYSTEM);
        close(pair.here);
        close(pair.there);
    }
    gr_resource_free(received);
    ck_assert(open_fds_become(fds));
}

VULKAN_TEST(rings_need_free_descriptors)
{
    struct pair pair;
    gr_ring *received = NULL;
    for (unsigned more = 0; !received; more++) {
        struct shared_ring r = shared_ring_begin(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
        unsigned enough = 0;
        while (send_with(enough, NULL, r.ring, &pair) != GR_OK)
            enough++;
        ck_assert_uint_gt(enough, 1);
        const gr_status status = receive_with(more, pair.there, NULL, &received);
        ck_assert_int_eq(status == GR_ERR_SYSTEM, !received);
        if (!received)
            close(pair.there);
        gr_ring_free(received);
        shared_ring_end(&r);
    }
}
