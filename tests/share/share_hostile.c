/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Messages that no grinterop sender sends. Each is a valid message that the test takes off the
 * socket and changes in one place. Every message must be refused with the right error class, in
 * time, and without leaving a descriptor open.
 */
#define _GNU_SOURCE
#include "share_wire.h"
#include "tests/support/support_vulkan_image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/message/description.h"

#define IN_TIME_MS 2000

static struct wire capture(gr_resource *resource)
{
    struct pair pair = pair_make();
    assert_ok(gr_resource_send(pair.here, resource, NULL, 0, SOON));
    struct wire wire = wire_take(pair.there);
    pair_close(&pair);
    return wire;
}

/* Captures the message of a buffer, which is freed afterwards. */
static struct wire capture_buffer(VkDeviceSize size)
{
    GR_AUTO(gr_resource) *resource = must_create(size, GR_READ_WRITE);
    return capture(resource);
}

/* Receives the message. The sender has closed its end, so that nothing more can arrive. */
static gr_resource *receive(const struct wire *wire, bool as_ring)
{
    struct pair pair = pair_make();
    wire_put(pair.here, wire);
    close(pair.here);
    pair.here = -1;
    gr_clear_error();
    gr_resource *resource = NULL;
    if (as_ring)
        ck_assert_ptr_null(gr_ring_receive(pair.there, NULL, 0, NULL, IN_TIME_MS));
    else
        resource = gr_resource_receive(pair.there, NULL, 0, NULL, IN_TIME_MS);
    pair_close(&pair);
    return resource;
}

static void must_refuse(const struct wire *wire, gr_status status, const char *text,
                        const char *what)
{
    int fds = open_fds();
    ck_assert_msg(!receive(wire, false), "%s was taken", what);
    wire_assert_refused(status, text, what, fds);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

#define FIELD(name, bytes) {#name, bytes},
static const struct {
    const char *name;
    unsigned bytes;
} fields[] = {{"magic", 4},
              {"version", 4},
              {"kind", 4},
              {"size", 4},
              {"fds", 4},
              {"data", 4},
              GR_DESCRIPTION_FIELDS(FIELD)};

static void change(struct wire *wire, const char *name, unsigned long long value)
{
    size_t at = 0, i = 0;
    for (; i < sizeof(fields) / sizeof(*fields) && strcmp(fields[i].name, name) != 0; i++)
        at += fields[i].bytes;
    ck_assert_msg(i < sizeof(fields) / sizeof(*fields), "there is no field %s", name);
    wire_change(wire, at, fields[i].bytes, value);
}

/* Changes the size of the buffer. change() would change the field `size` of the header instead. */
static void change_length(struct wire *wire, unsigned long long value)
{
    wire_change(wire, WIRE_HEADER + 8 + 8 + 4 + 4 + 8 + 8, 8, value);
}

struct mutation {
    const char *field;
    unsigned long long value;
    gr_status status;
    const char *text;
};

static const struct mutation of_buffers[] = {
    {"magic", 0, GR_ERR_INVALID_VALUE, "not a grinterop message"},
    {"magic", 0xffffffff, GR_ERR_INVALID_VALUE, "not a grinterop message"},
    {"version", 0, GR_ERR_INVALID_VALUE, "version"},
    {"version", GR_MESSAGE_VERSION - 1, GR_ERR_INVALID_VALUE, "version"},
    {"version", GR_MESSAGE_VERSION + 1, GR_ERR_INVALID_VALUE, "version"},
    {"kind", 0, GR_ERR_INVALID_VALUE, "kind"},
    {"kind", 2, GR_ERR_INVALID_VALUE, "kind"},
    {"kind", 0xffffffff, GR_ERR_INVALID_VALUE, "kind"},
    {"size", 0, GR_ERR_INVALID_VALUE, "0 bytes"},
    {"size", 8, GR_ERR_INVALID_VALUE, "8 bytes"},
    {"size", 400, GR_ERR_SYSTEM, "closed its end"},
    {"size", 513, GR_ERR_INVALID_VALUE, "impossible sizes"},
    {"size", 0xffffffff, GR_ERR_INVALID_VALUE, "impossible sizes"},
    {"data", 1, GR_ERR_INVALID_VALUE, "room for 0"},
    {"data", 65536, GR_ERR_INVALID_VALUE, "room for 0"},
    {"data", 65537, GR_ERR_INVALID_VALUE, "impossible sizes"},
    {"data", 0xffffffff, GR_ERR_INVALID_VALUE, "impossible sizes"},
    {"fds", 0, GR_ERR_INVALID_VALUE, "descriptors"},
    {"fds", 2, GR_ERR_INVALID_VALUE, "descriptors"},
    {"fds", 0xffffffff, GR_ERR_INVALID_VALUE, "impossible sizes"},
    {"uuid_low", 1, GR_ERR_UNSUPPORTED, "CUDA_VISIBLE_DEVICES"},
    {"uuid_high", 0, GR_ERR_UNSUPPORTED, "CUDA_VISIBLE_DEVICES"},
    {"vmm", 2, GR_ERR_INVALID_VALUE, "neither 0 nor 1"},
    {"dedicated", 0xffffffff, GR_ERR_INVALID_VALUE, "neither 0 nor 1"},
    {"memory_size", 0, GR_ERR_INVALID_VALUE, "memory"},
    {"memory_size", 1, GR_ERR_INVALID_VALUE, "memory"},
    {"memory_size", 0xffffffffffffffff, GR_ERR_INVALID_VALUE, "larger than"},
    {"offset", 0xffffffffffffffff, GR_ERR_INVALID_VALUE, "larger than"},
    {"offset", 0x7fffffffffffffff, GR_ERR_INVALID_VALUE, "offset"},
    {"offset", 1000000000, GR_ERR_INVALID_VALUE, "offset"},
    {"flags", 0x100, GR_ERR_INVALID_VALUE, "bits"},
    {"flags", 3, GR_ERR_INVALID_VALUE, "write_discard"},
    {"flags", GR_SURFACE_LOAD_STORE, GR_ERR_INVALID_VALUE, "surface_load_store"},
    {"is_image", 1, GR_ERR_INVALID_VALUE, "image"},
    {"is_image", 7, GR_ERR_INVALID_VALUE, "neither 0 nor 1"},
    {"width", 1, GR_ERR_INVALID_VALUE, "described as an image"},
    {"format", 1, GR_ERR_INVALID_VALUE, "described as an image"},
    {"normalized", 1, GR_ERR_INVALID_VALUE, "described as an image"},
    {"has_acquire", 1, GR_ERR_INVALID_VALUE, "descriptors"},
    {"has_acquire", 2, GR_ERR_INVALID_VALUE, "neither 0 nor 1"},
    {"has_release", 1, GR_ERR_INVALID_VALUE, "descriptors"},
    {"acquire_value", 5, GR_ERR_INVALID_VALUE, "was not sent with it"},
    {"release_timeline", 1, GR_ERR_INVALID_VALUE, "was not sent with it"},
};

static const struct mutation of_images[] = {
    {"vmm", 1, GR_ERR_INVALID_VALUE, "allocated by CUDA"},
    {"width", 0, GR_ERR_INVALID_VALUE, "width"},
    {"width", 0x7fffffffffffffff, GR_ERR_INVALID_VALUE, "larger than"},
    {"width", 0xffffffffffffffff, GR_ERR_INVALID_VALUE, "larger than"},
    {"width", 1000000, GR_ERR_INVALID_VALUE, "fit"},
    {"height", 0x1000000000000, GR_ERR_INVALID_VALUE, "fit"},
    {"height", 0x1000000000001, GR_ERR_INVALID_VALUE, "larger than"},
    {"depth", 0x100000000, GR_ERR_INVALID_VALUE, "fit"},
    {"levels", 0xffffffff, GR_ERR_INVALID_VALUE, "levels"},
    {"layers", 0xffffffff, GR_ERR_INVALID_VALUE, ""},
    {"cube", 1, GR_ERR_INVALID_VALUE, "cube"},
    {"format", 0, GR_ERR_INVALID_VALUE, "format"},
    {"format", 0xffffffff, GR_ERR_INVALID_VALUE, "format"},
    {"channels", 3, GR_ERR_INVALID_VALUE, "channels"},
    {"channels", 0x80000004, GR_ERR_INVALID_VALUE, "channels"},
    {"color_attachment", 3, GR_ERR_INVALID_VALUE, "neither 0 nor 1"},
    {"is_image", 0, GR_ERR_INVALID_VALUE, "described as an image"},
};

static void try_all(const struct wire *good, const struct mutation mutations[], int n)
{
    for (int i = 0; i < n; i++) {
        struct wire wire = *good;
        char what[96];
        snprintf(what, sizeof(what), "%s = 0x%llx", mutations[i].field, mutations[i].value);
        change(&wire, mutations[i].field, mutations[i].value);
        must_refuse(&wire, mutations[i].status, mutations[i].text, what);
    }
}

GROUP("hostile messages", add_vulkan_case)

VULKAN_TEST(changed_fields_of_a_buffer_are_refused)
{
    struct wire good = capture_buffer(SHARE_SIZE), wire = good;
    try_all(&good, of_buffers, COUNT(of_buffers));
    change_length(&wire, 0);
    must_refuse(&wire, GR_ERR_INVALID_VALUE, "inside the memory", "no bytes");
    change_length(&wire, 1 << 30);
    must_refuse(&wire, GR_ERR_INVALID_VALUE, "inside the memory", "too many bytes");
    wire = good;
    change(&wire, "has_acquire", 1);
    change(&wire, "acquire_value", 0xffffffffffffffff);
    must_refuse(&wire, GR_ERR_INVALID_VALUE, "below 2^63", "a semaphore near its maximum");
    wire = good;
    change(&wire, "has_release", 1);
    change(&wire, "release_value", 1ull << 63);
    must_refuse(&wire, GR_ERR_INVALID_VALUE, "below 2^63", "a semaphore value far ahead");
    /* The unchanged message is valid: it is accepted repeatedly. */
    for (int i = 0; i < 2; i++) {
        gr_resource_free(must_make(receive(&good, false)));
    }
    wire_close(&good);
}

VULKAN_IMAGE_TEST(changed_fields_of_an_image_are_refused)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 64, 32, 1, 0, GR_READ_WRITE);
    struct wire good = capture(image.resource), wire = good;
    try_all(&good, of_images, COUNT(of_images));
    change_length(&wire, 64);
    must_refuse(&wire, GR_ERR_INVALID_VALUE, "in bytes", "an image with a size");
    gr_resource *taken = must_make(receive(&good, false));
    gr_resource_free(taken);
    gr_resource_free(image.resource);
    wire_close(&good);
}

/* Random bytes in random places are refused or accepted, but must not crash the receiver. */
VULKAN_TEST(random_bytes_in_a_message_do_no_harm)
{
    struct wire good = capture_buffer(4096);
    int fds = open_fds();
    unsigned seed = 12345;
    for (int i = 0; i < 2000; i++) {
        struct wire wire = good;
        for (int changes = 0; changes < 1 + i % 3; changes++) {
            seed = seed * 1664525 + 1013904223;
            wire.bytes[seed / 65536 % wire.size] ^= (unsigned char)(1 + seed / 256 % 255);
        }
        gr_resource_free(receive(&wire, i % 16 == 0));
        gr_clear_error();
    }
    ck_assert(open_fds_become(fds));
    wire_close(&good);
}

/* Receives a valid message. */
static void take(int socket)
{
    gr_resource_free(must_make(gr_resource_receive(socket, NULL, 0, NULL, SOON)));
}

/* ---- Length ---------------------------------------------------------------------------------- */

VULKAN_TEST(truncated_messages_are_refused)
{
    struct wire good = capture_buffer(SHARE_SIZE);
    for (size_t size = 1; size < good.size; size++) {
        struct wire wire = good;
        wire.size = size;
        must_refuse(&wire, GR_ERR_SYSTEM, "closed its end", "a part of a message");
    }
    wire_close(&good);
}

/* The header announces application data, but the data does not arrive, or only part of it. */
VULKAN_TEST(missing_application_data_times_out)
{
    unsigned char room[100];
    struct wire good = capture_buffer(SHARE_SIZE), wire = good;
    int fds = open_fds();
    change(&wire, "data", 50);
    for (int come = 0; come < 50; come += 49) {
        struct pair pair = pair_make();
        size_t size = 7;
        wire_put(pair.here, &wire);
        for (int i = 0; i < come; i++)
            ck_assert_int_eq(send(pair.here, "x", 1, 0), 1);
        assert_null(gr_resource_receive(pair.there, room, sizeof(room), &size, 30), GR_ERR_TIMEOUT,
                    0, "close the socket");
        ck_assert_uint_eq(size, 7);
        pair_close(&pair);
        ck_assert(open_fds_become(fds));
    }
    wire_close(&good);
}

/*
 * The message arrives in two pieces. The receiver reads the header before it knows that the
 * caller's space is too small.
 */
VULKAN_TEST(a_message_in_pieces_that_needs_more_space_is_refused)
{
    struct wire good = capture_buffer(SHARE_SIZE), first = good;
    struct pair pair = pair_make();
    change(&good, "data", 50);
    first.size = 10;
    wire_put(pair.here, &first);
    ck_assert_int_eq(send(pair.here, good.bytes + 10, good.size - 10, 0), (ssize_t)good.size - 10);
    assert_null_invalid(gr_resource_receive(pair.there, NULL, 0, NULL, SOON), "close the socket");
    pair_close(&pair);
    wire_close(&good);
}

/* Several messages are on one socket. Reading the first one must not affect the next. */
VULKAN_TEST(several_messages_on_a_socket_are_received_in_order)
{
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    struct pair pair = pair_make();
    for (int i = 0; i < 3; i++)
        assert_ok(gr_resource_send(pair.here, resource, NULL, 0, SOON));
    tell(pair.here);
    for (int i = 0; i < 3; i++) {
        take(pair.there);
    }
    hear(pair.there);
    pair_close(&pair);
}

/* The message arrives byte by byte, as a stream socket may deliver it. */
VULKAN_TEST(a_message_sent_byte_by_byte_is_received)
{
    struct wire good = capture_buffer(SHARE_SIZE), first = good;
    struct pair pair = pair_make();
    first.size = 1;
    wire_put(pair.here, &first);
    for (size_t i = 1; i < good.size; i++)
        ck_assert_int_eq(send(pair.here, good.bytes + i, 1, 0), 1);
    take(pair.there);
    pair_close(&pair);
    wire_close(&good);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

VULKAN_TEST(wrong_numbers_of_descriptors_are_refused)
{
    if (getenv("GR_TEST_EMULATOR"))
        skip("QEMU leaves descriptors open that a message has no room for");
    struct wire good = capture_buffer(SHARE_SIZE), wire = good;
    wire.fd_count = 0;
    must_refuse(&wire, GR_ERR_INVALID_VALUE, "descriptors", "no descriptor");
    for (size_t n = 2; n <= WIRE_MOST_FDS; n *= 2) {
        wire.fd_count = n;
        for (size_t i = 0; i < n; i++)
            wire.fds[i] = good.fds[0];
        must_refuse(&wire, GR_ERR_INVALID_VALUE, "descriptors", "too many descriptors");
    }
    wire_close(&good);
}

VULKAN_TEST(descriptors_of_the_wrong_kind_are_refused)
{
    struct wire good = capture_buffer(SHARE_SIZE), wire = good;
    struct pair pair = pair_make();
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const struct {
        int fd;
        gr_status status;
        const char *text, *what;
    } others[] = {
        {pair.here, GR_ERR_INVALID_VALUE, "memfd", "a socket"},
        {ends[0], GR_ERR_INVALID_VALUE, "memfd", "a pipe"},
        {open("/", O_RDONLY | O_CLOEXEC), GR_ERR_INVALID_VALUE, "memfd", "a folder"},
        {open("/", O_PATH | O_CLOEXEC), GR_ERR_INVALID_VALUE, "memfd", "a path"},
        {open("/proc/self/exe", O_RDONLY | O_CLOEXEC), GR_ERR_INVALID_VALUE, "memfd",
         "a file on a disk"},
        {open("/dev/null", O_RDWR | O_CLOEXEC), GR_ERR_CUDA, "", "another device"},
        {wire_file(1 << 20, F_SEAL_SEAL), GR_ERR_INVALID_VALUE, "sealed", "without seals"},
        {wire_file(64, F_SEAL_SHRINK), GR_ERR_INVALID_VALUE, "its file has 64", "too small"},
        {wire_file(1 << 20, F_SEAL_SHRINK), GR_ERR_CUDA, "", "a file of zeros"},
    };
    for (int i = 0; i < COUNT(others); i++) {
        wire.fds[0] = others[i].fd;
        must_refuse(&wire, others[i].status, others[i].text, others[i].what);
        if (i > 1)
            close(others[i].fd);
    }
    close(ends[0]);
    close(ends[1]);
    pair_close(&pair);
    wire_close(&good);
}
