/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compares the driver calls of grinterop with the texts in golden/, a file for each kind of
 * resource and a section for each operation. `make renew-trace` writes the files again.
 */
#include "record.h"
#include "tests/drivers/fault_driver.h"
#include "tests/kinds/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/publish.h>
#include <grinterop/ring.h>

/* A text has more calls. */
#define FEWEST_CALLS 25
#define MOST_BYTES   65536

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A text: those of a kind of resource, or of barriers. */
struct row {
    const struct kind *kind; /* NULL: barriers */
    const char *name;        /* of the file, in which it has no spaces */
    unsigned flags;

    /* For Vulkan: the device of grinterop, and the semaphores of the resource. */
    gr_transport transport; /* 0: that of vk.wrap */
    bool without_synchronization2, through_host;
};

static const struct row *row;
static gr_semaphore *acquire, *release;

static bool is_vulkan(void)
{
    return !row->kind || row->kind->write == kind_named("created Vulkan buffer")->write ||
           row->kind->write == kind_named("created Vulkan image")->write;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/*
 * What grinterop does depends on whether earlier work is done: it waits for the work, or uses
 * something again. So all work ends before each operation.
 */
static void begin(const char *operation)
{
    record_pause();
    CU(CtxSynchronize());
    glFinish();
    if (!vk.missing)
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

static struct thing *make(const char *operation)
{
    begin(operation);
    struct thing *thing = thing_make(row->kind, row->flags);
    if (acquire)
        assert_ok(gr_resource_set_sync(thing->resource, acquire, release));
    return thing;
}

static void submit(const char *operation, gr_resource *resource)
{
    begin(operation);
    if (row->kind->is_unordered)
        return;
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    draw(submit);
    gr_submit_free(submit);
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

/* Some kinds cannot be mapped before Vulkan has written to them. */
static void trace_maps(gr_resource *resource)
{
    submit("first submit", resource);
    map_and_release(resource, GR_MAP_AS_REGISTERED, "first map", "first release");
    submit("submit", resource);
    map_and_release(resource, GR_MAP_AS_REGISTERED, "map", "release");
    if (row->flags == GR_READ_WRITE) {
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
    const int64_t size = THING_SIZE, picture[] = {THING_SIDE, THING_SIDE, 4};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = row->kind->is_image ? 3 : 1,
                .shape = row->kind->is_image ? picture : &size);
    record_pause();
    gr_tensor *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    begin("publish");
    if (row->flags != GR_READ_ONLY)
        assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    begin("fetch");
    if (row->flags != GR_WRITE_DISCARD)
        assert_ok(gr_fetch(resource, tensor, NULL, fx.stream));
    begin("free of the tensor");
    gr_tensor_free(tensor);
}

static void trace_close(void)
{
    struct thing *thing = make("create");
    trace_maps(thing->resource);
    trace_tensor(thing->resource);
    begin("close");
    assert_ok(gr_resource_close(thing->resource, fx.stream));
    begin("free after close");
    thing_free(thing);
    begin("end of the object");
    thing_end(thing);
}

static void trace_free(void)
{
    struct thing *thing = make("create another one");
    submit("submit of another one", thing->resource);
    begin("map and free while mapped");
    gr_buffer *buffer = thing_map(thing);
    thing_free(thing);
    begin("release after free");
    assert_ok(gr_buffer_release(buffer));
    begin("end of another object");
    thing_end(thing);
}

static void trace_write(gr_ring *ring)
{
    const gr_slot *slot = NULL;
    begin("ring: acquire_write");
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 10000));
    begin("ring: hand_over");
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}

static void trace_turn(gr_ring *ring)
{
    const gr_slot *slot = NULL;
    trace_write(ring);
    begin("ring: acquire_read");
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 10000));
    begin("ring: draw");
    if (is_vulkan())
        draw(slot->submit);
    begin("ring: give_back");
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

/*
 * A ring of one slot uses it again in the second turn. The last frame is not read, so that its copy
 * is left for the map after the ring. The text shows that some kinds cannot be in
 * a ring.
 */
static void trace_ring(void)
{
    struct thing *thing = make("create a slot");
    begin("ring: create");
    gr_ring *ring = gr_ring_create(&thing->resource, 1,
                                   &GR_INIT(gr_ring_options, .producer = row->flags == GR_READ_ONLY
                                                                             ? GR_SIDE_GRAPHICS
                                                                             : GR_SIDE_CUDA));
    if (ring && row->flags != GR_READ_ONLY) {
        trace_turn(ring);
        trace_turn(ring);
        trace_write(ring);
    }
    begin(ring ? "ring: free" : "ring: refused");
    gr_clear_error();
    gr_ring_free(ring);
    if (ring && row->flags != GR_READ_ONLY)
        map_and_release(thing->resource, GR_MAP_AS_REGISTERED, "map after the ring",
                        "release after the ring");
    begin("free after the ring");
    thing_free(thing);
    begin("end of the object of the slot");
    thing_end(thing);
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
    struct vulkan_own own = vulkan_own(THING_SIZE, false);
    struct vulkan_image image =
        vulkan_image_unregistered(VK_FORMAT_R8_UNORM, "2D", THING_SIDE, THING_SIDE, 1, false);
    image.own.create_info = &image.info;
    image.info.sharingMode = sharing;
    const gr_vk_buffer_desc buffer =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = THING_SIZE, .sharing_mode = sharing);
    begin("register");
    gr_resource *both[] = {must_make(gr_from_vk_buffer(vk.wrap, &buffer, GR_READ_WRITE)),
                           must_make(gr_from_vk_image(vk.wrap, &image.own, GR_READ_WRITE))};
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
    if (fx.device != fixture_drawing_device())
        return "the texts are those of one device";
    if (getenv("GR_TEST_OPENGL"))
        return "the texts are those of the newest OpenGL";
    if (getenv("GR_TEST_NVIDIA"))
        return "the texts are those of Mesa, without the rules of the NVIDIA driver";
    return NULL;
}

static const char *missing_row(void)
{
    if (is_vulkan() && !vk.missing && !vk.exports)
        return "Vulkan exports no semaphores: set GR_TEST_EXPORTS";
    return row->kind ? kind_missing(row->kind, row->flags) : vk.missing;
}

static void path_of(char *path, size_t size)
{
    const int length = snprintf(path, size, "%s/tests/trace/golden/", getenv("top_srcdir"));
    snprintf(path + length, size - (size_t)length, "%s.txt", row->name);
    for (char *c = path + length; *c; c++)
        if (*c == ' ')
            *c = '-';
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
                      "%s, %.*s, line %u of the text:\n"
                      "   after: %.*s\nexpected: %.*s\n     got: %.*s\n    then: %.*s\n"
                      "If this change is intended, run make renew-trace and review its diff.",
                      row->name, length_of_line(operation), operation, number,
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
        vk.wrap, &GR_INIT(gr_vk_semaphore_desc, .semaphore = semaphore,
                          .type = VK_SEMAPHORE_TYPE_TIMELINE, .through_host = true)));
}

/* The device has a pair of semaphores and commands of its own, so each text has a new one. */
static gr_vk_device *make_device(void)
{
    gr_vk_device_desc desc = vulkan_desc(NULL);
    desc.synchronization2 = vk.h->synchronization2 && !row->without_synchronization2;
    desc.transports = row->transport ? row->transport : GR_TRANSPORT_EXTERNAL;
    return must_make(gr_vk_device_from_vk(&desc));
}

static void trace_row(void)
{
    if (row->kind) {
        trace_close();
        trace_free();
        trace_ring();
    } else {
        trace_barriers(VK_SHARING_MODE_EXCLUSIVE);
        trace_barriers(VK_SHARING_MODE_CONCURRENT);
    }
}

static void trace_with_device(void)
{
    VkSemaphore own[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    gr_vk_device *kept = vk.wrap;
    vk.wrap = make_device();
    if (row->through_host) {
        for (int i = 0; i < 2; i++)
            own[i] = vulkan_timeline(false, 0);
        acquire = through_host(own[0]);
        release = through_host(own[1]);
    }
    trace_row();
    begin("free of the semaphores and the device");
    gr_semaphore_free(acquire);
    gr_semaphore_free(release);
    gr_vk_device_free(vk.wrap);
    record_pause();
    for (int i = 0; i < 2; i++)
        vk.DestroySemaphore(vk.h->device, own[i], NULL);
    acquire = release = NULL;
    vk.wrap = kept;
}

static void check_row(const struct row *checked)
{
    row = checked;
    if (missing_row())
        skip("%s: %s", row->name, missing_row());
    record_kind();
    record_before_queries(finish_queried);
    if (vk.missing)
        trace_row();
    else
        trace_with_device();
    begin("end");
    record_pause();
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

GROUP("trace", add_kinds_case)

static void check_kind(const struct kind *kind, const char *what, unsigned flags)
{
    char name[100];
    snprintf(name, sizeof(name), "%s%s", kind->name, what);
    check_row(&(struct row){.kind = kind, .name = name, .flags = flags});
}

TEST_UNLESS(missing(), the_calls_of_each_kind_are_those_of_its_text, kind_count)
{
    const struct kind *kind = &kinds[_i];
    if (kind->in_flight) {
        check_kind(kind, " that CUDA writes", GR_WRITE_DISCARD);
        check_kind(kind, " that CUDA reads", GR_READ_ONLY);
    } else {
        check_kind(kind, "", GR_READ_WRITE);
    }
}

TEST_UNLESS(missing(), other_ways_to_submit_have_their_texts)
{
    check_row(&(struct row){.kind = kind_named("created Vulkan image"),
                            .name = "created Vulkan image without synchronization2",
                            .flags = GR_READ_WRITE,
                            .without_synchronization2 = true});
    check_row(&(struct row){.kind = kind_named("created Vulkan buffer"),
                            .name = "created Vulkan buffer through the host",
                            .flags = GR_READ_WRITE,
                            .through_host = true});
}

/* A release copies at once only outside of a ring, or for a resource that CUDA reads, too. */
TEST_UNLESS(missing(), a_copied_buffer_that_cuda_only_writes_has_its_text)
{
    check_kind(kind_named("copied OpenGL buffer"), " that CUDA writes", GR_WRITE_DISCARD);
}

/*
 * Of objects of the program, on no other device than here: neither a GPU nor Mesa looks at the
 * stages and accesses.
 */
TEST_UNLESS(missing(), barriers_have_their_texts)
{
    check_row(&(struct row){.name = "barriers of shared objects"});
    check_row(&(struct row){.name = "barriers of copied objects", .transport = GR_TRANSPORT_COPY});
}

static void start(void)
{
    cannot_start = fault_calls_start(NULL);
    fault_control_start();
}

START(start())
