/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * All kinds of resources, in one table: by each transport, buffers and images of OpenGL and Vulkan.
 * A FACT() is a test that runs for each kind:
 *
 *     FACT(close_while_mapped_keeps_the_bytes, GR_WRITE_DISCARD)
 *     {
 *         gr_buffer *buffer = thing_map(thing);
 *         ...
 *     }
 *
 * A kind may be missing on a machine, and a fact may exclude kinds, both for a reason that the
 * skip prints. The body of a fact has no `if` on kinds.
 */
#ifndef GR_TESTS_KINDS_H
#define GR_TESTS_KINDS_H

#include "tests/support/support_image.h"
#include "tests/support/support_vulkan_image.h"

/* The bytes of each resource: a buffer, or an image of 32 x 32 texels of 4 bytes. */
#define THING_SIZE ((size_t)4096)
#define THING_SIDE 32

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* A resource, and the object of the graphics API that it shares with CUDA. */
struct thing {
    const struct kind *kind;
    unsigned flags;
    gr_resource *resource; /* NULL after thing_free() */
    struct image image;    /* of OpenGL; the name is also that of a buffer */
    VkBuffer buffer;
    VkImage vk_image;

    /* What the kind needs beside the resource, to make and end it. */
    struct vulkan_own own;
    struct vulkan_image own_image;
    gr_vk_device *device;
    gr_resource *sent;
    gr_tensor *tensor;
};

struct kind {
    const char *name;
    bool is_image;
    bool is_unordered; /* the application orders CUDA and the graphics API */

    /*
     * Whether the application owns the object, so that it survives the resource. Else it ends with
     * the resource.
     */
    bool survives;

    /* Why the graphics API does not see the last bytes of CUDA once the resource is closed. */
    const char *lost_by_close;

    gr_graphics_api api;
    const char *object; /* a part of the description of the resource that names the object */
    gr_transport transport;
    unsigned in_flight; /* the number of staging buffers; 0: no frames in flight */
    const char *says;   /* a part of the description that names the transport or its way */

    /*
     * The reason why this machine or program cannot make the kind with these flags; NULL if it can.
     * Also prepares the case, so that the context makes resources of this kind.
     */
    const char *(*missing)(unsigned flags);

    /* Makes the object and the resource, which is NULL if a call fails. */
    void (*make)(struct thing *thing);

    /* Frees what `make` made beside the resource, which was freed before. NULL: nothing. */
    void (*end)(struct thing *thing);

    /*
     * The graphics API writes or reads all bytes, ordered as the kind orders its uses. A read
     * waits for the bytes.
     */
    void (*write)(struct thing *thing, const unsigned char *bytes);
    void (*read)(struct thing *thing, unsigned char *bytes);

    /* Keeps the graphics API busy, to delay the commands that follow, for about this time. */
    void (*delay)(unsigned ms);
};

extern const struct kind kinds[];
extern const size_t kind_count;

/* The kind with that name. The program ends if there is none. */
const struct kind *kind_named(const char *name);

/* kind->missing(), after the checks that are common to all kinds. */
const char *kind_missing(const struct kind *kind, unsigned flags);

/* ---- Things ---------------------------------------------------------------------------------- */

/* Makes a resource with undefined contents. Its objects end after the case. */
struct thing *thing_make(const struct kind *kind, unsigned flags);

/* The same, but the resource may be NULL, with the error in gr_last_error(). */
struct thing *thing_try(const struct kind *kind, unsigned flags);

/* Frees the resource. Its application's objects still live, until thing_end() or the end. */
void thing_free(struct thing *thing);
void thing_end(struct thing *thing);

/* The graphics API writes and compares the pattern with that seed, which is below THING_SEEDS. */
#define THING_SEEDS 64
void thing_write(struct thing *thing, unsigned seed);
#define assert_thing(thing, seed) assert_no_difference(thing_differs(thing, seed))
const char *thing_differs(struct thing *thing, unsigned seed);

/* Maps on fx.stream, or another one. */
gr_buffer *thing_map(struct thing *thing);
gr_buffer *thing_map_on(struct thing *thing, CUstream stream);

/*
 * CUDA writes the pattern in the stream of the mapping, without waiting, or compares the bytes
 * after the work in the stream.
 */
void thing_cuda_write(struct thing *thing, gr_buffer *buffer, unsigned seed);
void thing_cuda_write_on(struct thing *thing, gr_buffer *buffer, unsigned seed, CUstream stream);
#define assert_thing_in_cuda(thing, buffer, seed)                                                  \
    assert_no_difference(thing_cuda_differs(thing, buffer, seed))
const char *thing_cuda_differs(struct thing *thing, gr_buffer *buffer, unsigned seed);

/* Maps, writes and releases. */
void thing_fill(struct thing *thing, unsigned seed);

/* ---- Facts ----------------------------------------------------------------------------------- */

/* The flags with which CUDA writes, for facts that run twice. */
static const unsigned writing[] = {GR_READ_WRITE, GR_WRITE_DISCARD};

/* A case of facts. The program links the sources in $(kinds_sources). */
TCase *add_kinds_case(Suite *suite, const char *name);

/*
 * FACT(name, flags) {...}: a test that runs for each kind with a new resource, `thing`. With a
 * count, it runs so often for each kind, with _i from 0, on which the flags may depend.
 * FACT_UNLESS(excluded, ...) skips the kinds for which excluded(kind) returns a reason.
 */
#define FACT(...)                  FACT_OF(NULL, __VA_ARGS__, 1, 0)
#define FACT_UNLESS(excluded, ...) FACT_OF(excluded, __VA_ARGS__, 1, 0)
#define FACT_OF(excluded, title, flags, times, ...)                                                \
    static void title(struct thing *thing, int _i);                                                \
    static unsigned flags_##title(CK_ATTRIBUTE_UNUSED int _i)                                      \
    {                                                                                              \
        return flags;                                                                              \
    }                                                                                              \
    static void run_##title(int i)                                                                 \
    {                                                                                              \
        fact_run(#title, title, flags_##title, excluded, i / (times), i % (times));                \
    }                                                                                              \
    __attribute__((constructor)) static void list_##title(void)                                    \
    {                                                                                              \
        fact_list(#title, run_##title, flags_##title, __FILE__, __LINE__, times);                  \
    }                                                                                              \
    static void title(CK_ATTRIBUTE_UNUSED struct thing *thing, CK_ATTRIBUTE_UNUSED int _i)

typedef const char *kind_reason(const struct kind *kind);
void fact_run(const char *title, void (*body)(struct thing *thing, int _i), unsigned (*flags)(int),
              kind_reason *excluded, int kind, int number);
void fact_list(const char *title, void (*run)(int i), unsigned (*flags)(int), const char *file,
               int line, int times);

/* For FACT_UNLESS(): kinds that lose bytes at a close, or whose object ends with the resource. */
const char *lost_by_close(const struct kind *kind);
const char *lost_by_free(const struct kind *kind);

#endif
