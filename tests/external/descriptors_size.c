/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Structs of programs that were compiled with another header than the library: an older header with
 * shorter structs, and a newer one with fields that the library does not know.
 */
#include "descriptors_semaphore.h"

#include <stdlib.h>
#include <string.h>

#define SIGNAL "cuSignalExternalSemaphoresAsync"

/* The number of additional bytes in the struct of a newer program. */
#define TAIL 16

/* A struct, and a call that passes it to the library. */
struct sized_struct {
    const char *name;
    size_t size;
    size_t older; /* a size that is sufficient for the call: all later fields are 0 */
    bool (*call)(const void *given);
};

/* ---- The calls ------------------------------------------------------------------------------- */

static bool import_memory(const gr_external_memory_desc *memory)
{
    gr_resource *resource = gr_from_external_memory(memory, GR_READ_WRITE);
    gr_resource_free(resource);
    return resource;
}

static bool memory_of(const void *given)
{
    return import_memory(given);
}

static bool part_of(const void *given)
{
    const gr_external_memory_desc memory =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32,
                .win32_handle = SOME_HANDLE, .size = 65536, .part = given);
    return import_memory(&memory);
}

static bool image_of(const void *given)
{
    return part_of(&GR_INIT(gr_external_part_desc, .image = given));
}

static bool semaphore_of_desc(const void *given)
{
    gr_semaphore *semaphore = gr_semaphore_from_handle(given);
    gr_semaphore_free(semaphore);
    return semaphore;
}

static bool point_of(const void *given)
{
    return gr_semaphore_signal(given, 1, CU_STREAM_LEGACY) == GR_OK;
}

/* ---- The structs ----------------------------------------------------------------------------- */

static const struct sized_struct subjects[] = {
    {"gr_external_memory_desc", sizeof(gr_external_memory_desc),
     offsetof(gr_external_memory_desc, dedicated), memory_of},
    {"gr_external_part_desc", sizeof(gr_external_part_desc), offsetof(gr_external_part_desc, size),
     part_of},
    {"gr_external_image_desc", sizeof(gr_external_image_desc),
     offsetof(gr_external_image_desc, color_attachment), image_of},
    {"gr_semaphore_desc", sizeof(gr_semaphore_desc), offsetof(gr_semaphore_desc, win32_name),
     semaphore_of_desc},
    {"gr_semaphore_point", sizeof(gr_semaphore_point), offsetof(gr_semaphore_point, key), point_of},
};

/*
 * Allocates a valid struct, at the start of memory that is large enough for the struct of a newer
 * program.
 */
static void *make(const struct sized_struct *subject, gr_semaphore *semaphore)
{
    const gr_external_memory_desc memory =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32,
                .win32_handle = SOME_HANDLE, .size = 65536);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .offset = 256);
    const gr_external_image_desc image =
        GR_INIT(gr_external_image_desc, .width = 8, .height = 8, .levels = 1,
                .format = CU_AD_FORMAT_UNSIGNED_INT8, .channels = 4);
    const gr_semaphore_desc desc =
        GR_INIT(gr_semaphore_desc, .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32,
                .win32_handle = SOME_HANDLE);
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 18);
    const void *const right[] = {&memory, &part, &image, &desc, &point};
    char *given = calloc(1, subject->size + TAIL);
    if (given)
        memcpy(given, right[subject - subjects], subject->size);
    return given;
}

/* ---- The sizes ------------------------------------------------------------------------------- */

static const struct size_case {
    const char *name;
    gr_status status;
    const char *words;
} size_rows[] = {
    {"size 0 is refused", GR_ERR_INVALID_VALUE, "GR_INIT"},
    {"an address as size is refused", GR_ERR_INVALID_VALUE, "GR_INIT"},
    {"an older size is accepted", GR_OK, NULL},
    {"the size of the library is accepted", GR_OK, NULL},
    {"a newer size with fields of 0 is accepted", GR_OK, NULL},
    {"a newer size with unknown fields is refused", GR_ERR_UNSUPPORTED, "newer"},
};

static void set_size(char *given, const struct sized_struct *subject, size_t row)
{
    const size_t sizes[] = {0,
                            (size_t)0x7f0000001000u,
                            subject->older,
                            subject->size,
                            subject->size + TAIL,
                            subject->size + TAIL};
    memcpy(given, &sizes[row], sizeof(sizes[row]));
    if (row == 2) /* the bytes after an older struct do not belong to it */
        memset(given + subject->older, 0xff, subject->size + TAIL - subject->older);
    if (row == 5)
        given[subject->size + TAIL - 1] = 1;
}

struct walk {
    const struct sized_struct *subject;
    size_t row;
};

static const char *sized(const void *row)
{
    const struct walk *walk = row;
    const struct size_case *wanted = &size_rows[walk->row];
    gr_semaphore *semaphore = semaphore_of(&semaphore_types[8]);
    char *given = make(walk->subject, semaphore);
    REQUIRE(given && semaphore);
    set_size(given, walk->subject, walk->row);
    bool good = walk->subject->call(given);
    free(given);
    gr_semaphore_free(semaphore);
    REQUIRE(good == (wanted->status == GR_OK));
    if (good)
        return NULL;
    REQUIRE(gr_last_error()->status == wanted->status);
    REQUIRE(strstr(gr_last_error()->message, wanted->words));
    REQUIRE(strstr(gr_last_error()->message, walk->subject->name));
    return NULL;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* The point of a newer program, which has a larger stride. */
struct newer_point {
    gr_semaphore_point point;
    uint64_t unknown;
};

#define POINTS 300 /* more points than the library converts at a time */

static void fill(struct newer_point points[], gr_semaphore *semaphore)
{
    for (size_t i = 0; i < POINTS; i++) {
        points[i].point = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 18 + i);
        points[i].point.struct_size = sizeof(points[i]);
        points[i].unknown = 0;
    }
}

static const char *array_of_newer(const void *row)
{
    static struct newer_point points[POINTS];
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(&semaphore_types[8]);
    (void)row;
    fill(points, semaphore);
    REQUIRE(gr_semaphore_signal(&points[0].point, POINTS, CU_STREAM_LEGACY) == GR_OK);
    size_t seen = 0;
    for (size_t i = 0; i < recorder->calls(SIGNAL); i++)
        for (size_t k = 0; k < recorder->nth(SIGNAL, i)->count; k++, seen++)
            if (k < RECORDER_SEMAPHORES)
                REQUIRE(recorder->nth(SIGNAL, i)->given.signals[k].params.fence.value == 18 + seen);
    REQUIRE(seen == POINTS);
    points[POINTS - 1].unknown = 1;
    for (size_t i = 0; i < POINTS; i++)
        points[i].point.value += POINTS;
    size_t before = recorder->calls(SIGNAL);
    REQUIRE(gr_semaphore_signal(&points[0].point, POINTS, CU_STREAM_LEGACY) == GR_ERR_UNSUPPORTED);
    REQUIRE(recorder->calls(SIGNAL) == before);
    return NULL;
}

/* If one element has another size, no point may reach the driver. */
static const char *array_that_disagrees(const void *row)
{
    static struct newer_point points[POINTS];
    GR_AUTO(gr_semaphore) *semaphore = semaphore_of(&semaphore_types[8]);
    (void)row;
    fill(points, semaphore);
    points[POINTS - 1].point.struct_size = sizeof(gr_semaphore_point);
    REQUIRE(gr_semaphore_signal(&points[0].point, POINTS, CU_STREAM_LEGACY) ==
            GR_ERR_INVALID_VALUE);
    REQUIRE(strstr(gr_last_error()->message, "Element 299"));
    REQUIRE(recorder->calls(SIGNAL) == 0);
    return NULL;
}

void size_cases(void)
{
    for (size_t s = 0; s < COUNT(subjects); s++)
        for (size_t row = 0; row < COUNT(size_rows); row++)
            run_case(subjects[s].name, size_rows[row].name, sized,
                     &(const struct walk){&subjects[s], row});
    run_case("gr_semaphore_point", "points of a newer program reach the driver", array_of_newer,
             NULL);
    run_case("gr_semaphore_point", "points of different sizes are refused", array_that_disagrees,
             NULL);
}
