/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of all kinds, the steps that are common to them, and FACT(). See kinds.h. */
#define _GNU_SOURCE
#include "kinds_parts.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/drivers/fault_driver.h"
#include "tests/gl/gl_shared.h"

/* ---- The table ------------------------------------------------------------------------------- */

#define OPENGL .api = GR_GRAPHICS_OPENGL, .delay = gl_delay
#define OPENGL_BUFFER                                                                              \
    OPENGL, .object = "OpenGL buffer", .write = gl_buffer_write, .read = gl_buffer_read
#define OPENGL_IMAGE                                                                               \
    OPENGL, .object = "texture", .is_image = true, .write = gl_image_write, .read = gl_image_read
#define VULKAN        .api = GR_GRAPHICS_VULKAN, .delay = vk_delay
#define VULKAN_BUFFER VULKAN, .object = "Vulkan buffer", .write = vk_write, .read = vk_buffer_read
#define VULKAN_IMAGE                                                                               \
    VULKAN, .object = "Vulkan image", .is_image = true, .write = vk_write, .read = vk_image_read
#define VULKAN_MEMORY                                                                              \
    .api = GR_GRAPHICS_EXTERNAL, .object = "memory", .delay = vk_delay, .write = vk_memory_write,  \
    .read = vk_memory_read

/* The object belongs to the application. */
#define OPENGL_OBJECT .make = make_registered, .end = end_gl, .survives = true
#define VULKAN_OBJECT .end = end_vk, .survives = true

#define SUBMIT_COPIES "the copy to Vulkan is part of a submit of the resource"

const struct kind kinds[] = {
    {"interop buffer", OPENGL_BUFFER, OPENGL_OBJECT, .missing = interop_missing,
     .transport = GR_TRANSPORT_INTEROP, .says = "transport interop"},
    {"interop image", OPENGL_IMAGE, OPENGL_OBJECT, .missing = interop_missing,
     .transport = GR_TRANSPORT_INTEROP, .says = "transport interop"},
    {"copied OpenGL buffer", OPENGL_BUFFER, OPENGL_OBJECT, .missing = copy_missing,
     .transport = GR_TRANSPORT_COPY, .says = "transport copy"},
    {"OpenGL buffer copied through pinned memory", OPENGL_BUFFER, .make = make_pinned,
     .end = end_gl, .survives = true, .missing = pinned_missing, .transport = GR_TRANSPORT_COPY,
     .says = "through pinned host memory"},
    {"copied OpenGL image", OPENGL_IMAGE, OPENGL_OBJECT, .missing = copy_missing,
     .transport = GR_TRANSPORT_COPY, .says = "transport copy"},
    {"OpenGL image copied through pinned memory", OPENGL_IMAGE, .make = make_pinned, .end = end_gl,
     .survives = true, .missing = pinned_missing, .transport = GR_TRANSPORT_COPY,
     .says = "through pinned host memory"},
    {"OpenGL buffer by peer", OPENGL_BUFFER, OPENGL_OBJECT, .missing = staging_missing,
     .transport = GR_TRANSPORT_PEER, .says = "transport peer"},
    {"OpenGL image by peer", OPENGL_IMAGE, OPENGL_OBJECT, .missing = staging_missing,
     .transport = GR_TRANSPORT_PEER, .says = "transport peer"},
    {"OpenGL buffer in flight", OPENGL_BUFFER, OPENGL_OBJECT, .missing = flight_missing,
     .in_flight = 3, .transport = GR_TRANSPORT_PEER, .says = "3 staging buffers"},
    {"OpenGL image in flight", OPENGL_IMAGE, OPENGL_OBJECT, .missing = flight_missing,
     .in_flight = 3, .transport = GR_TRANSPORT_PEER, .says = "3 staging"},
    {"shared OpenGL buffer by timelines", OPENGL_BUFFER, .make = make_shared,
     .missing = timelines_missing, .transport = GR_TRANSPORT_SHARED, .says = "timeline semaphores"},
    {"shared OpenGL image by timelines", OPENGL_IMAGE, .make = make_shared,
     .missing = timelines_missing, .transport = GR_TRANSPORT_SHARED, .says = "timeline semaphores"},
    {"shared OpenGL buffer by binary semaphores", OPENGL_BUFFER, .make = make_shared,
     .missing = binaries_missing, .transport = GR_TRANSPORT_SHARED, .says = "binary semaphores"},
    {"shared OpenGL image by binary semaphores", OPENGL_IMAGE, .make = make_shared,
     .missing = binaries_missing, .transport = GR_TRANSPORT_SHARED, .says = "binary semaphores"},
    {"shared OpenGL buffer by host waits", OPENGL_BUFFER, .make = make_shared,
     .missing = host_waits_missing, .transport = GR_TRANSPORT_SHARED, .says = "host waits"},
    {"shared OpenGL image by host waits", OPENGL_IMAGE, .make = make_shared,
     .missing = host_waits_missing, .transport = GR_TRANSPORT_SHARED, .says = "host waits"},
    {"OpenGL buffer of a tensor", OPENGL_BUFFER, .make = make_of_tensor, .missing = tensor_missing,
     .transport = GR_TRANSPORT_SHARED, .says = "tensor"},
    {"imported Vulkan buffer", VULKAN_BUFFER, VULKAN_OBJECT, .make = make_imported,
     .missing = vk_import_missing, .transport = GR_TRANSPORT_EXTERNAL,
     .says = "transport external"},
    {"imported Vulkan image", VULKAN_IMAGE, VULKAN_OBJECT, .make = make_imported,
     .missing = vk_import_missing, .transport = GR_TRANSPORT_EXTERNAL,
     .says = "transport external"},
    {"created Vulkan buffer", VULKAN_BUFFER, .make = make_created, .end = end_vk,
     .missing = vk_import_missing, .transport = GR_TRANSPORT_EXTERNAL,
     .says = "transport external"},
    {"created Vulkan image", VULKAN_IMAGE, .make = make_created, .end = end_vk,
     .missing = vk_import_missing, .transport = GR_TRANSPORT_EXTERNAL,
     .says = "transport external"},
    {"copied Vulkan buffer", VULKAN_BUFFER, VULKAN_OBJECT, .make = make_copied,
     .lost_by_close = SUBMIT_COPIES, .missing = vk_buffer_missing, .transport = GR_TRANSPORT_COPY,
     .says = "transport copy"},
    {"copied Vulkan image", VULKAN_IMAGE, VULKAN_OBJECT, .make = make_copied,
     .lost_by_close = SUBMIT_COPIES, .missing = vk_buffer_missing, .transport = GR_TRANSPORT_COPY,
     .says = "transport copy"},
    {"Vulkan buffer by peer", VULKAN_BUFFER, VULKAN_OBJECT, .make = make_copied,
     .lost_by_close = SUBMIT_COPIES, .missing = vk_buffer_missing, .transport = GR_TRANSPORT_PEER,
     .says = "transport peer"},
    {"Vulkan image by peer", VULKAN_IMAGE, VULKAN_OBJECT, .make = make_copied,
     .lost_by_close = SUBMIT_COPIES, .missing = vk_buffer_missing, .transport = GR_TRANSPORT_PEER,
     .says = "transport peer"},
    {"Vulkan buffer in flight", VULKAN_BUFFER, VULKAN_OBJECT, .make = make_copied, .in_flight = 3,
     .lost_by_close = SUBMIT_COPIES, .missing = vk_flight_missing, .transport = GR_TRANSPORT_COPY,
     .says = "3 staging"},
    {"Vulkan image in flight", VULKAN_IMAGE, VULKAN_OBJECT, .make = make_copied, .in_flight = 3,
     .lost_by_close = SUBMIT_COPIES, .missing = vk_flight_missing, .transport = GR_TRANSPORT_COPY,
     .says = "3 staging"},
    {"external memory", VULKAN_MEMORY, VULKAN_OBJECT, .is_unordered = true, .make = make_external,
     .missing = vk_import_missing, .transport = GR_TRANSPORT_EXTERNAL,
     .says = "transport external"},
    {"received buffer", VULKAN_MEMORY, VULKAN_OBJECT, .is_unordered = true, .make = make_received,
     .missing = vk_import_missing, .transport = GR_TRANSPORT_EXTERNAL,
     .says = "transport external"},
};

const size_t kind_count = sizeof(kinds) / sizeof(kinds[0]);

const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < kind_count; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "there is no kind \"%s\"\n", name);
    exit(1);
}

const char *kind_missing(const struct kind *kind, unsigned flags)
{
    if (kind->is_image && kind->transport == GR_TRANSPORT_SHARED &&
        fx.device != fixture_drawing_device())
        return "images are not shared between two devices";
    return kind->missing(flags);
}

/* ---- Things ---------------------------------------------------------------------------------- */

#define MOST_THINGS 64

static struct thing *things[MOST_THINGS]; /* those of the case that have not ended */
static unsigned char *patterns;           /* of each seed, in pinned memory */

/* The memory is pinned so that no copy waits for the stream. */
static unsigned char *pattern_of(unsigned seed)
{
    ck_assert_uint_lt(seed, THING_SEEDS);
    if (!patterns) {
        void *memory = NULL;
        CU(MemHostAlloc(&memory, THING_SEEDS * THING_SIZE, CU_MEMHOSTALLOC_PORTABLE));
        patterns = memory;
        for (unsigned i = 0; i < THING_SEEDS; i++)
            pattern_fill(patterns + i * THING_SIZE, THING_SIZE, i);
    }
    return patterns + seed * THING_SIZE;
}

struct thing *thing_try(const struct kind *kind, unsigned flags)
{
    size_t i = 0;
    while (i < MOST_THINGS && things[i])
        i++;
    ck_assert_uint_lt(i, MOST_THINGS);
    struct thing *thing = calloc(1, sizeof(*thing));
    ck_assert_ptr_nonnull(thing);
    thing->kind = kind;
    thing->flags = flags;
    things[i] = thing;
    kind->make(thing);
    return thing;
}

struct thing *thing_make(const struct kind *kind, unsigned flags)
{
    struct thing *thing = thing_try(kind, flags);
    ck_assert_msg(thing->resource, "%s: %s", kind->name, error_text());
    ck_assert_int_eq(gr_resource_get_info(thing->resource)->transport, kind->transport);
    return thing;
}

void thing_free(struct thing *thing)
{
    gr_resource_free(thing->resource);
    thing->resource = NULL;
}

void thing_end(struct thing *thing)
{
    for (size_t i = 0; i < MOST_THINGS; i++)
        if (things[i] == thing)
            things[i] = NULL;
    /* The validation layer does not see that CUDA has waited for the last submit. */
    if (thing->kind->api == GR_GRAPHICS_VULKAN && thing->resource &&
        !gr_resource_get_info(thing->resource)->mapped)
        VK(QueueWaitIdle(vk.h->graphics));
    thing_free(thing);
    if (thing->kind->end)
        thing->kind->end(thing);
    free(thing);
}

void thing_write(struct thing *thing, unsigned seed)
{
    thing->kind->write(thing, pattern_of(seed));
}

const char *thing_differs(struct thing *thing, unsigned seed)
{
    unsigned char bytes[THING_SIZE];
    memset(bytes, 0xEE, sizeof(bytes));
    thing->kind->read(thing, bytes);
    return pattern_differs(bytes, THING_SIZE, seed);
}

gr_buffer *thing_map_on(struct thing *thing, CUstream stream)
{
    gr_buffer *buffer = gr_map(thing->resource, stream);
    ck_assert_msg(buffer, "%s: %s", thing->kind->name, error_text());
    return buffer;
}

gr_buffer *thing_map(struct thing *thing)
{
    return thing_map_on(thing, fx.stream);
}

static void copy_on(struct thing *thing, gr_buffer *buffer, unsigned char *host, bool write,
                    CUstream stream)
{
    if (thing->kind->is_image) {
        const CUDA_MEMCPY2D copy = array_copy(gr_buffer_array(buffer, 0, 0), host,
                                              THING_SIZE / THING_SIDE, THING_SIDE, write);
        CU(Memcpy2DAsync(&copy, stream));
        return;
    }
    ck_assert_uint_eq(gr_buffer_size(buffer), THING_SIZE);
    if (write)
        CU(MemcpyHtoDAsync(gr_buffer_ptr(buffer), host, THING_SIZE, stream));
    else
        CU(MemcpyDtoHAsync(host, gr_buffer_ptr(buffer), THING_SIZE, stream));
}

void thing_cuda_write_on(struct thing *thing, gr_buffer *buffer, unsigned seed, CUstream stream)
{
    copy_on(thing, buffer, pattern_of(seed), true, stream);
}

void thing_cuda_write(struct thing *thing, gr_buffer *buffer, unsigned seed)
{
    thing_cuda_write_on(thing, buffer, seed, gr_buffer_get_info(buffer)->stream);
}

const char *thing_cuda_differs(struct thing *thing, gr_buffer *buffer, unsigned seed)
{
    unsigned char bytes[THING_SIZE];
    memset(bytes, 0xEE, sizeof(bytes));
    CUstream stream = gr_buffer_get_info(buffer)->stream;
    copy_on(thing, buffer, bytes, false, stream);
    CU(StreamSynchronize(stream));
    return pattern_differs(bytes, THING_SIZE, seed);
}

void thing_fill(struct thing *thing, unsigned seed)
{
    gr_buffer *buffer = thing_map(thing);
    thing_cuda_write(thing, buffer, seed);
    assert_ok(gr_buffer_release(buffer));
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* Drivers keep descriptors of the first image, and of the first context beside another one. */
static void use_images(void)
{
    struct image image = image_make("RGBA8", "2D", 4, 4, 1);
    gr_resource_free(must_register_image(&image, GR_READ_WRITE));
    gr_egl_free(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
}

static void end_things(void)
{
    gates_open();
    CU(CtxSetCurrent(fx.context));
    CU(CtxSynchronize());
    for (size_t i = 0; i < MOST_THINGS; i++)
        if (things[i])
            thing_end(things[i]);
    if (patterns)
        CU(MemFreeHost(patterns));
    patterns = NULL;
    gl_kinds_end();
}

TCase *add_kinds_case(Suite *suite, const char *name)
{
    TCase *made = with_first_use(with_ways(add_vulkan_case(suite, name)), use_images);
    return with_fixture(made, NULL, end_things);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* "a_close_keeps_the_bytes[interop buffer, read only, _i 3]" */
static char *fact_name(const char *title, const struct kind *kind, unsigned flags, int number)
{
    const char *direction = flags & GR_READ_ONLY       ? "read only"
                            : flags & GR_WRITE_DISCARD ? "write discard"
                                                       : "read and write";
    char *name = NULL;
    if (asprintf(&name, "%s[%s, %s, _i %d]", title, kind->name, direction, number) < 0)
        abort();
    return name;
}

void fact_list(const char *title, void (*run)(int i), unsigned (*flags)(int), const char *file,
               int line, int times)
{
    for (int i = 0; i < (int)kind_count * times; i++) {
        TTest *test = calloc(1, sizeof(*test));
        struct listed *listed = calloc(1, sizeof(*listed));
        if (!test || !listed)
            abort();
        *test = (TTest){fact_name(title, &kinds[i / times], flags(i % times), i % times), run, file,
                        line};
        *listed = (struct listed){.file = file, .line = line, .test = test, .first = i, .count = 1};
        list_here(listed);
    }
}

void fact_run(const char *title, void (*body)(struct thing *thing, int _i), unsigned (*flags)(int),
              kind_reason *excluded, int kind, int number)
{
    const struct kind *of = &kinds[kind];
    char *name = fact_name(title, of, flags(number), number);
    case_begins(name, number);
    const char *reason = excluded ? excluded(of) : NULL;
    if (!reason)
        reason = kind_missing(of, flags(number));
    if (reason) {
        skip_say(name, "%s", reason);
        free(name);
        return;
    }
    free(name);
    body(thing_make(of, flags(number)), number);
}

const char *lost_by_close(const struct kind *kind)
{
    return kind->lost_by_close;
}

const char *lost_by_free(const struct kind *kind)
{
    return kind->survives ? kind->lost_by_close : "its object ends with the resource";
}
