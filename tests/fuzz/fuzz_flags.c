/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Text and numbers that a program may pass on from its user: register flags as text and as bits,
 * names of dtypes, and the enums and struct_size of option structs. The target compares the results
 * with a second implementation of the rules.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grinterop/external.h>
#include <grinterop/image.h>
#include <grinterop/ring.h>
#include <grinterop/submit.h>
#include <grinterop/tensor.h>

#define UNTOUCHED 0xABCDu
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *name;
    unsigned bit;
} flags[] = {
    {"read_write", 0},    {"none", 0},           {"read_only", 1},
    {"write_discard", 2}, {"texture_gather", 8}, {"surface_load_store", 4},
};

/* ---- Flags as text --------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Adds the flag with one name, which blanks may surround. Returns false for an unknown name. */
static bool add_name(const char *text, size_t length, unsigned *all)
{
    while (length && is_blank(text[0]))
        text++, length--;
    while (length && is_blank(text[length - 1]))
        length--;
    for (size_t i = 0; i < COUNT(flags); i++)
        if (strlen(flags[i].name) == length && memcmp(flags[i].name, text, length) == 0) {
            *all |= flags[i].bit;
            return true;
        }
    return false;
}

static bool read_names(const char *text, unsigned *all)
{
    *all = 0;
    size_t blanks = 0;
    while (is_blank(text[blanks]))
        blanks++;
    for (const char *from = text; text[blanks]; from = strpbrk(from, ",|") + 1) {
        size_t length = strcspn(from, ",|");
        if (!add_name(from, length, all))
            return false;
        if (!from[length])
            break;
    }
    return true;
}

/* Flags that were parsed are printed and parsed again. */
static void check_round_trip(unsigned all)
{
    char text[200] = "none";
    unsigned again = UNTOUCHED;
    for (size_t i = 0; i < COUNT(flags); i++)
        if (all & flags[i].bit)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i % 2 ? " | " : ",",
                     flags[i].name);
    FUZZ_CHECK(gr_flags_parse(text, &again) == GR_OK && again == all);
}

static void flags_as_text(struct fuzz_input *in)
{
    size_t size;
    const unsigned char *bytes = fuzz_bytes(in, in->left, &size);
    char *text = fuzz_text(bytes, size);
    unsigned read = UNTOUCHED, wanted;
    gr_status status = gr_flags_parse(text, &read);
    if (read_names(text, &wanted)) {
        FUZZ_CHECK(status == GR_OK && read == wanted);
        check_round_trip(read);
    } else {
        FUZZ_CHECK(status == GR_ERR_INVALID_VALUE && read == UNTOUCHED);
        fuzz_check_error(status);
    }
    free(text);
}

/* ---- Dtypes ---------------------------------------------------------------------------------- */

static void dtype_as_text(struct fuzz_input *in)
{
    size_t size;
    const unsigned char *bytes = fuzz_bytes(in, in->left, &size);
    char *text = fuzz_text(bytes, size);
    gr_dtype dtype = gr_dtype_parse(text);
    if (dtype) {
        const gr_dtype_info *info = gr_dtype_get_info(dtype);
        FUZZ_CHECK(gr_dtype_parse(info->name) == dtype);
        FUZZ_CHECK(gr_dtype_parse(info->typestr) == dtype);
        FUZZ_CHECK(strstr(text, info->name) || strstr(text, info->typestr + 1));
    } else {
        fuzz_check_refused();
    }
    free(text);
}

static void dtype_as_number(struct fuzz_input *in)
{
    gr_dtype dtype = (gr_dtype)fuzz_size(in, GR_DTYPE_C128);
    const gr_dtype_info *info = gr_dtype_get_info(dtype);
    FUZZ_CHECK((info != NULL) == (dtype >= GR_DTYPE_U8 && dtype <= GR_DTYPE_C128));
    if (info)
        FUZZ_CHECK(info->size > 0 && info->name && info->typestr);
    else
        fuzz_check_refused();
}

/* ---- Flags as bits --------------------------------------------------------------------------- */

static bool flags_are_good(unsigned bits, bool image)
{
    return !(bits & ~(image ? 0xfu : 0x3u)) && (bits & 3) != 3;
}

static gr_resource *import_memory(unsigned bits, bool image)
{
    const gr_external_image_desc picture =
        GR_INIT(gr_external_image_desc, .width = 4, .height = 4, .levels = 1,
                .format = CU_AD_FORMAT_UNSIGNED_INT8, .channels = 4);
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .image = image ? &picture : NULL);
    const gr_external_memory_desc memory =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                .fd = fuzz_memory_file(256, NULL), .size = 256, .part = &part);
    gr_resource *resource = gr_from_external_memory(&memory, bits);
    if (!resource)
        FUZZ_CHECK(close(memory.fd) == 0);
    return resource;
}

static void flags_as_bits(struct fuzz_input *in)
{
    unsigned bits = fuzz_below(in, 2) ? fuzz_byte(in) : (unsigned)fuzz_number(in, 4);
    bool image = fuzz_below(in, 2);
    gr_resource *resource = import_memory(bits, image);
    FUZZ_CHECK(flags_are_good(bits, image) == (resource != NULL));
    if (resource)
        FUZZ_CHECK(gr_resource_get_info(resource)->flags == bits);
    else
        fuzz_check_error(GR_ERR_INVALID_VALUE);
    gr_resource_free(resource);
}

/* ---- Options --------------------------------------------------------------------------------- */

/*
 * Copies the struct with another size: truncated, or with additional bytes that this library does
 * not know. *known says whether the library may accept the struct.
 */
static void *resized(struct fuzz_input *in, const void *own, size_t size, bool *known)
{
    size_t theirs = fuzz_below(in, 2) ? size : (size_t)fuzz_size(in, size);
    bool possible = theirs >= sizeof(size_t) && theirs <= 4096;
    size_t room = possible ? theirs : size;
    unsigned char *given = calloc(1, room);
    FUZZ_CHECK(given);
    memcpy(given, own, room < size ? room : size);
    memcpy(given, &theirs, sizeof(theirs));
    *known = possible;
    for (size_t i = size; i < room; i++) {
        given[i] = fuzz_byte(in);
        *known = *known && !given[i];
    }
    return given;
}

/* Copies the part of a resized struct that the library must read. The rest of `own` is 0. */
static void take(void *own, size_t size, const void *given)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof(theirs));
    memset(own, 0, size);
    memcpy(own, given, theirs < size ? theirs : size);
}

static gr_semaphore *semaphores[2]; /* all rings share this pair */

static void ring_options(struct fuzz_input *in)
{
    bool known;
    gr_ring_options own = GR_INIT(gr_ring_options, .producer = (gr_side)(int8_t)fuzz_byte(in),
                                  .mode = (gr_ring_mode)(int8_t)fuzz_byte(in));
    gr_ring_options *given = resized(in, &own, sizeof(own), &known);
    gr_resource *slots[2] = {import_memory(0, false), import_memory(0, false)};
    for (size_t i = 0; i < COUNT(slots); i++)
        FUZZ_CHECK(gr_resource_set_sync(slots[i], semaphores[0], semaphores[1]) == GR_OK);
    gr_ring *ring = gr_ring_create(slots, COUNT(slots), given);
    if (known)
        take(&own, sizeof(own), given);
    bool good =
        known && (unsigned)own.producer <= GR_SIDE_GRAPHICS && (unsigned)own.mode <= GR_RING_NEWEST;
    FUZZ_CHECK(good == (ring != NULL));
    if (!ring)
        fuzz_check_refused();
    gr_ring_free(ring);
    for (size_t i = 0; i < COUNT(slots); i++)
        gr_resource_free(slots[i]);
    free(given);
}

static float some_float(struct fuzz_input *in)
{
    uint32_t bits = (uint32_t)fuzz_number(in, 4);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void texture_options(struct fuzz_input *in)
{
    bool known;
    gr_texture_options own = GR_INIT(
        gr_texture_options, .filter = (gr_filter)(int8_t)fuzz_byte(in),
        .normalized_coordinates = (gr_choice)(int8_t)fuzz_byte(in),
        .as_float = (gr_choice)(int8_t)fuzz_byte(in), .srgb = (gr_choice)(int8_t)fuzz_byte(in),
        .whole = fuzz_below(in, 2), .level = (unsigned)fuzz_size(in, 1),
        .layer = (unsigned)fuzz_size(in, 1), .mip_filter = (gr_filter)(int8_t)fuzz_byte(in),
        .mip_bias = some_float(in), .min_level = some_float(in),
        .level_count = (unsigned)fuzz_size(in, 1), .anisotropy = (unsigned)fuzz_size(in, 16));
    for (size_t i = 0; i < 3; i++)
        own.address[i] = (gr_address)(int8_t)fuzz_byte(in);
    gr_texture_options *given = resized(in, &own, sizeof(own), &known);
    gr_resource *resource = import_memory(0, true);
    FUZZ_CHECK(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE) == GR_OK);
    gr_buffer *buffer = gr_map(resource, fuzz_cuda.stream);
    FUZZ_CHECK(buffer);
    CUtexObject texture = gr_buffer_texture(buffer, given);
    if (known)
        take(&own, sizeof(own), given);
    if (texture)
        FUZZ_CHECK(known && (unsigned)own.filter <= GR_FILTER_LINEAR && own.anisotropy <= 16);
    else
        fuzz_check_refused();
    FUZZ_CHECK(gr_buffer_release(buffer) == GR_OK);
    gr_resource_free(resource);
    free(given);
}

static void set_up(void)
{
    fuzz_cuda_set_up();
    for (size_t i = 0; i < COUNT(semaphores); i++) {
        const gr_semaphore_desc desc =
            GR_INIT(gr_semaphore_desc, .fd = fuzz_semaphore_file(true, 0),
                    .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
        semaphores[i] = gr_semaphore_from_handle(&desc);
        FUZZ_CHECK(semaphores[i]);
    }
}

static void run(struct fuzz_input in)
{
    static void (*const ways[])(struct fuzz_input * in) = {flags_as_text,   dtype_as_text,
                                                           dtype_as_number, flags_as_bits,
                                                           ring_options,    texture_options};
    ways[fuzz_below(&in, COUNT(ways))](&in);
    gr_clear_error();
}

const struct fuzz_target fuzz_flags = {"flags", set_up, run};
