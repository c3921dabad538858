/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compares the driver calls of grinterop with the texts in golden/, a file for each kind of
 * resource and a section for each operation. `make renew-trace` writes the files again.
 */
#include "record.h"
#include "tests/gl/gl_shared.h"
#include "tests/support/support_vulkan_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/publish.h>
#include <grinterop/ring.h>

#define SIZE 4096
#define SIDE 16

/* A text of a kind has more calls. */
#define FEWEST_CALLS 30
#define MOST_BYTES   65536

/* ---- Kinds of resources ---------------------------------------------------------------------- */

struct kind {
    const char *name;           /* the name of the file */
    gr_resource *(*make)(void); /* NULL: the kind consists of barriers */
    gr_transport transport;
    unsigned flags, in_flight; /* `flags`: 0 for GR_READ_WRITE */
    int way;                   /* the number in `ways` of gl_shared.h */
    bool image, synchronization2, through_host, no_ring;
};

static const struct kind *kind;
static gr_vk_device *device; /* of the kind, for Vulkan */
static gr_semaphore *acquire, *release;

static unsigned flags_of_kind(void)
{
    return kind->flags ? kind->flags : GR_READ_WRITE;
}

static gr_resource *make_opengl(void)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = kind->transport, .in_flight = kind->in_flight);
    const gr_gl_image_desc image =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    return kind->image ? gr_create_gl_image(&image, flags_of_kind(), &options)
                       : gr_create_gl_buffer(SIZE, flags_of_kind(), &options);
}

static gr_resource *make_vulkan(void)
{
    const VkBufferCreateInfo buffer = vulkan_buffer_info(SIZE);
    const VkImageCreateInfo image = vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                                      vulkan_shape("2D"), SIDE, SIDE, 1, 0);
    return kind->image ? gr_create_vk_image(device, &image, flags_of_kind())
                       : gr_create_vk_buffer(device, &buffer, flags_of_kind());
}

static const struct kind kinds[] = {
    {"opengl-interop-buffer", make_opengl, .transport = GR_TRANSPORT_INTEROP},
    {"opengl-interop-image", make_opengl, .transport = GR_TRANSPORT_INTEROP, .image = true},
    {"opengl-copy-buffer", make_opengl, .transport = GR_TRANSPORT_COPY},
    {"opengl-copy-image", make_opengl, .transport = GR_TRANSPORT_COPY, .image = true},
    {"opengl-peer-writes", make_opengl, .transport = GR_TRANSPORT_PEER, .flags = GR_WRITE_DISCARD,
     .in_flight = 3},
    {"opengl-peer-reads", make_opengl, .transport = GR_TRANSPORT_PEER, .flags = GR_READ_ONLY,
     .in_flight = 3},
    {"opengl-peer-image", make_opengl, .transport = GR_TRANSPORT_PEER, .flags = GR_WRITE_DISCARD,
     .in_flight = 3, .image = true},
    {"opengl-shared-buffer", make_opengl, .transport = GR_TRANSPORT_SHARED},
    {"opengl-shared-image", make_opengl, .transport = GR_TRANSPORT_SHARED, .image = true},
    {"opengl-binary-semaphores", make_opengl, .transport = GR_TRANSPORT_SHARED, .way = 1,
     .no_ring = true},
    {"opengl-host-waits", make_opengl, .transport = GR_TRANSPORT_SHARED, .way = 2},
    {"vulkan-buffer", make_vulkan, .transport = GR_TRANSPORT_EXTERNAL},
    {"vulkan-image", make_vulkan, .transport = GR_TRANSPORT_EXTERNAL, .image = true},
    {"vulkan-image-by-submit2", make_vulkan, .transport = GR_TRANSPORT_EXTERNAL, .image = true,
     .synchronization2 = true},
    {"vulkan-through-host", make_vulkan, .transport = GR_TRANSPORT_EXTERNAL, .through_host = true},
    {"vulkan-copy-buffer", make_vulkan, .transport = GR_TRANSPORT_COPY},
    {"vulkan-copy-image", make_vulkan, .transport = GR_TRANSPORT_COPY, .image = true},
    {"vulkan-peer-buffer", make_vulkan, .transport = GR_TRANSPORT_PEER, .synchronization2 = true},
    {"vulkan-peer-image", make_vulkan, .transport = GR_TRANSPORT_PEER, .image = true},
    {"vulkan-barriers", NULL, .transport = GR_TRANSPORT_EXTERNAL, .synchronization2 = true},
    {"vulkan-copy-barriers", NULL, .transport = GR_TRANSPORT_COPY, .synchronization2 = true},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static bool is_vulkan(void)
{
    return kind->make != make_opengl;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/*
 * Whether earlier work is done decides whether grinterop waits for it and what is used again, so
 * all work is done before each operation.
 */
static void begin(const char *operation)
{
    record_pause();
    CU(CtxSynchronize());
    glFinish();
    if (is_vulkan())
        VK(QueueWaitIdle(vk.h->graphics));
    CU(CtxSynchronize());
    record_operation(operation);
}

static void finish_queried(const struct call_seen *query)
{
    if (query->kind == CALL_CUDA)
        CU(EventSynchronize((CUevent)call_argument(query, 0)));
    else
        VK(QueueWaitIdle(vk.h->graphics));
}

static const gr_vk_use reads = {.struct_size = sizeof(reads),
                                .stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                .access = VK_ACCESS_2_SHADER_READ_BIT,
                                .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL},
                       writes = {.struct_size = sizeof(writes),
                                 .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                 .access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                 .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};

static void draw(gr_submit *submit)
{
    const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    if (is_vulkan())
        assert_ok(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info = &nothing,
                                                .first = &reads, .last = &writes)));
    else
        assert_ok(gr_submit_commit(submit));
}

/* Vulkan has a new image first, and may hand it over without contents. */
static gr_resource *make(const char *create, const char *hand_over)
{
    begin(create);
    gr_resource *made = must_make(kind->make());
    if (acquire)
        assert_ok(gr_resource_set_sync(made, acquire, release));
    if (is_vulkan() && kind->image) {
        begin(hand_over);
        assert_ok(gr_vk_hand_over(&made, 1, VK_IMAGE_LAYOUT_UNDEFINED));
    }
    return made;
}

static void map_on(gr_resource *resource, CUstream stream, gr_map_access access, const char *map,
                   const char *release)
{
    const gr_map_options options = GR_INIT(gr_map_options, .access = access);
    begin(map);
    gr_buffer *buffer = must_make(gr_map_with(resource, stream, &options));
    begin(release);
    assert_ok(gr_buffer_release(buffer));
}

static void map_and_release(gr_resource *resource, gr_map_access access, const char *map,
                            const char *release)
{
    map_on(resource, fx.stream, access, map, release);
}

/* The submit is between two maps, so that the second one waits for it. */
static void trace_maps(gr_resource *resource)
{
    map_and_release(resource, GR_MAP_AS_REGISTERED, "first map", "first release");
    begin("submit");
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    draw(submit);
    gr_submit_free(submit);
    map_and_release(resource, GR_MAP_AS_REGISTERED, "map", "release");
    if (flags_of_kind() == GR_READ_WRITE) {
        map_and_release(resource, GR_MAP_READ_ONLY, "map read", "release after map read");
        map_and_release(resource, GR_MAP_WRITE_DISCARD, "map write", "release after map write");
        map_and_release(resource, GR_MAP_READ_WRITE, "map read_write",
                        "release after map read_write");
    }
    map_on(resource, fx.other, GR_MAP_AS_REGISTERED, "map on another stream",
           "release on another stream");
    begin("wait");
    assert_ok(gr_resource_wait(resource, 10000));
}

static void trace_tensor(gr_resource *resource)
{
    const int64_t size = SIZE, picture[] = {SIDE, SIDE, 4};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = kind->image ? 3 : 1,
                .shape = kind->image ? picture : &size);
    record_pause();
    gr_tensor *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    begin("publish");
    if (flags_of_kind() != GR_READ_ONLY)
        assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    begin("fetch");
    if (flags_of_kind() != GR_WRITE_DISCARD)
        assert_ok(gr_fetch(resource, tensor, NULL, fx.stream));
    begin("free of the tensor");
    gr_tensor_free(tensor);
}

static void trace_close(void)
{
    gr_resource *resource = make("create", "hand over");
    trace_maps(resource);
    trace_tensor(resource);
    begin("close");
    assert_ok(gr_resource_close(resource, fx.stream));
    begin("free after close");
    gr_resource_free(resource);
}

static void trace_free(void)
{
    gr_resource *resource = make("create another one", "hand over another one");
    begin("map and free while mapped");
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    gr_resource_free(resource);
    begin("release after free");
    assert_ok(gr_buffer_release(buffer));
}

static void trace_turn(gr_ring *ring)
{
    const gr_slot *slot = NULL;
    begin("ring: acquire_write");
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 10000));
    begin("ring: hand_over");
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    begin("ring: acquire_read");
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 10000));
    begin("ring: draw");
    if (is_vulkan())
        draw((gr_submit *)slot->submit);
    begin("ring: give_back");
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

/* A ring of one slot uses it again in the second turn. */
static void trace_ring(void)
{
    gr_resource *slot = make("create a slot", "hand over a slot");
    begin("ring: create");
    gr_ring *ring = must_make(gr_ring_create(&slot, 1, NULL));
    trace_turn(ring);
    trace_turn(ring);
    begin("ring: free");
    gr_resource_free(slot);
    gr_ring_free(ring);
}

/* ---- Barriers that the program records ------------------------------------------------------- */

/*
 * Uses of objects of the program: a layout that CUDA shares, one that it does not, and stages of
 * 64 bits.
 */
static const struct use {
    const char *to_cuda, *one_to_cuda, *from_cuda;
    gr_vk_use use;
} uses[] = {
    {"general: to CUDA",
     "general: one to CUDA",
     "general: from CUDA",
     {.struct_size = sizeof(gr_vk_use),
      .stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
      .access = VK_ACCESS_2_SHADER_READ_BIT,
      .layout = VK_IMAGE_LAYOUT_GENERAL}},
    {"transfer source: to CUDA",
     "transfer source: one to CUDA",
     "transfer source: from CUDA",
     {.struct_size = sizeof(gr_vk_use),
      .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
      .access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
      .layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL}},
    {"64 bits: to CUDA",
     "64 bits: one to CUDA",
     "64 bits: from CUDA",
     {.struct_size = sizeof(gr_vk_use),
      .stages = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT,
      .access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
      .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL}},
};
#define USES (sizeof(uses) / sizeof(*uses))

/* Each call has commands of its own, which are never submitted. */
static VkCommandBuffer begin_commands(const char *operation)
{
    record_pause();
    VkCommandBuffer commands = vulkan_begin();
    begin(operation);
    return commands;
}

static void trace_use(gr_resource *const both[2], const struct use *use)
{
    VkCommandBuffer commands = begin_commands(use->to_cuda);
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 2, &use->use));
    commands = begin_commands(use->one_to_cuda);
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 1, &use->use));
    commands = begin_commands(use->from_cuda);
    assert_ok(gr_vk_cmd_from_cuda(commands, both, 2, &use->use));
}

/* A buffer and an image of the program, which one queue family owns or several share. */
static void trace_barriers(VkSharingMode sharing)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    struct vulkan_image image =
        vulkan_image_unregistered(VK_FORMAT_R8_UNORM, "2D", SIDE, SIDE, 1, false);
    image.own.create_info = &image.info;
    image.info.sharingMode = sharing;
    const gr_vk_buffer_desc buffer =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE, .sharing_mode = sharing);
    begin("register");
    gr_resource *both[] = {must_make(gr_from_vk_buffer(device, &buffer, GR_READ_WRITE)),
                           must_make(gr_from_vk_image(device, &image.own, GR_READ_WRITE))};
    for (size_t i = 0; i < USES; i++)
        if (i < 2 || vk.h->synchronization2)
            trace_use(both, &uses[i]);
    begin("free");
    free_resources(both, 2);
    record_pause();
    vulkan_image_own_free(&image);
    vulkan_own_free(&own);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static const char *cannot_start;

static const char *missing(void)
{
    if (cannot_start)
        return cannot_start;
    if (!gr_cuda_is_software())
        return "the texts are those of the software drivers";
    if (getenv("GR_TEST_NVIDIA"))
        return "the texts are those of Mesa, without the rules of the NVIDIA driver";
    return NULL;
}

static const char *missing_kind(void)
{
    if (is_vulkan())
        return vk.missing    ? vk.missing
               : !vk.exports ? "the device exports no semaphores: set GR_TEST_EXPORTS"
                             : NULL;
    const char *reason = way_missing(kind->way);
    const gr_transport_info *info = reason ? NULL : gr_gl_probe(kind->transport);
    return reason ? reason : !info ? "the probe fails" : info->usable ? NULL : info->reason;
}

static void path_of(char *path, size_t size)
{
    snprintf(path, size, "%s/tests/trace/golden/%s.txt", getenv("top_srcdir"), kind->name);
}

static char *read_golden(void)
{
    char path[4096];
    path_of(path, sizeof(path));
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "%s is missing: run make renew-trace", path);
    char *bytes = must_allocate(MOST_BYTES);
    const size_t size = fread(bytes, 1, MOST_BYTES - 1, file);
    ck_assert_uint_lt(size, MOST_BYTES - 1);
    bytes[size] = '\0';
    fclose(file);
    return bytes;
}

static void renew(void)
{
    char path[4096];
    path_of(path, sizeof(path));
    FILE *file = fopen(path, "w");
    ck_assert_msg(file, "%s", path);
    fputs(record_text(), file);
    ck_assert_int_eq(fclose(file), 0);
}

static int length_of_line(const char *line)
{
    return (int)strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    line += length_of_line(line);
    return line + (*line == '\n');
}

/*
 * The line before is the same in both texts. The operation is that of the section in the new text.
 */
static void compare(const char *expected, const char *got)
{
    const char *operation = "[", *before = "";
    unsigned number = 1;
    for (; *expected || *got; number++) {
        const int size = length_of_line(expected);
        if (*got == '[')
            operation = got;
        ck_assert_msg(size == length_of_line(got) && strncmp(expected, got, (size_t)size) == 0,
                      "%s, %.*s: golden/%s.txt:%u\n"
                      "   after: %.*s\nexpected: %.*s\n     got: %.*s\n    then: %.*s\n"
                      "If this change is intended, run make renew-trace and review its diff.",
                      kind->name, length_of_line(operation), operation, kind->name, number,
                      length_of_line(before), before, size, expected, length_of_line(got), got,
                      length_of_line(next_line(expected)), next_line(expected));
        before = expected;
        expected = next_line(expected);
        got = next_line(got);
    }
}

static gr_semaphore *through_host(VkSemaphore semaphore)
{
    return must_make(gr_semaphore_from_vk(
        device, &GR_INIT(gr_vk_semaphore_desc, .semaphore = semaphore,
                         .type = VK_SEMAPHORE_TYPE_TIMELINE, .through_host = true)));
}

static void make_device(void)
{
    gr_vk_device_desc desc = vulkan_desc(NULL);
    desc.synchronization2 = kind->synchronization2;
    desc.transports = kind->transport;
    device = must_make(gr_vk_device_from_vk(&desc));
}

static void trace_resource(void)
{
    trace_close();
    trace_free();
    if (!kind->no_ring)
        trace_ring();
}

static void trace(void)
{
    VkSemaphore own[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    acquire = release = NULL;
    record_kind();
    record_before_queries(finish_queried);
    if (is_vulkan())
        make_device();
    if (kind->through_host) {
        for (int i = 0; i < 2; i++)
            own[i] = vulkan_timeline(false, 0);
        acquire = through_host(own[0]);
        release = through_host(own[1]);
    }
    if (!kind->make) {
        trace_barriers(VK_SHARING_MODE_EXCLUSIVE);
        trace_barriers(VK_SHARING_MODE_CONCURRENT);
    } else {
        trace_resource();
    }
    if (is_vulkan()) {
        begin("free of the semaphores and the device");
        gr_semaphore_free(acquire);
        gr_semaphore_free(release);
        gr_vk_device_free(device);
        record_pause();
        for (int i = 0; i < 2; i++)
            vk.DestroySemaphore(vk.h->device, own[i], NULL);
    }
    begin("end");
    record_pause();
}

static void use_pretended(void)
{
    pretend_start();
    use_sharing();
}

static void allow_all(void)
{
    denied_extensions = NULL;
    pretend_semaphores(false);
}

static TCase *add_trace_case(Suite *suite, const char *name)
{
    return with_fixture(with_first_use(add_vulkan_case(suite, name), use_pretended), allow_all,
                        allow_all);
}

GROUP("trace", add_trace_case)

TEST_UNLESS(missing(), calls_are_those_of_the_text, KINDS)
{
    kind = &kinds[_i];
    if (missing_kind())
        skip("%s: %s", kind->name, missing_kind());
    trace();
    const char *got = record_text();
    ck_assert_uint_gt(record_calls(), FEWEST_CALLS);
    if (getenv("GR_TRACE_RENEW")) {
        renew();
        return;
    }
    char *expected = read_golden();
    compare(expected, got);
    free(expected);
}

START(cannot_start = fault_calls_start(NULL))
