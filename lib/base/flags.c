/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/flags.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"

static const struct {
    const char *name;
    unsigned bit;
} flag_names[] = {
    {"read_write", GR_READ_WRITE},
    {"none", GR_READ_WRITE}, /* the name that cuda.core uses */
    {"read_only", GR_READ_ONLY},
    {"write_discard", GR_WRITE_DISCARD},
    {"surface_load_store", GR_SURFACE_LOAD_STORE},
    {"texture_gather", GR_TEXTURE_GATHER},
};
#define FLAG_COUNT  (sizeof(flag_names) / sizeof(flag_names[0]))
#define VALID_NAMES "read_write, none, read_only, write_discard, surface_load_store, texture_gather"

static bool find_flag(const char *word, size_t length, unsigned *bit)
{
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (strlen(flag_names[i].name) == length && !memcmp(flag_names[i].name, word, length)) {
            *bit = flag_names[i].bit;
            return true;
        }
    }
    return false;
}

gr_status gr_flags_parse(const char *text, unsigned *flags)
{
    GR_CALL();
    static const char blanks[] = " \t\r\n";
    GR_REFUSE_IF(!flags, "`flags` is NULL: pass a pointer for the result.");
    unsigned all = 0;
    const char *at = text ? text : "";
    at += strspn(at, blanks);
    while (*at) {
        size_t length = strcspn(at, ",|");
        const char *next = at + length;
        while (length && strchr(blanks, at[length - 1]))
            length--;
        unsigned bit;
        GR_REFUSE_IF(!find_flag(at, length, &bit),
                     "Unknown register flag '%.*s'. Valid flags: " VALID_NAMES ".",
                     (int)(length > 80 ? 80 : length), at);
        all |= bit;
        if (!*next)
            break;
        at = next + 1;
        at += strspn(at, blanks);
        GR_REFUSE_IF(!*at,
                     "A flag is missing after the last separator. Valid flags: " VALID_NAMES ".");
    }
    *flags = all;
    return GR_OK;
}

void gr_flags_format(unsigned flags, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "%s", flags ? "" : flag_names[0].name);
    for (size_t i = 0; i < FLAG_COUNT && used < size; i++)
        if (flags & flag_names[i].bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "|" : "",
                                     flag_names[i].name);
}

gr_status gr_flags_check(unsigned flags, bool is_image)
{
    const unsigned for_images = flags & ~(unsigned)GR_BUFFER_FLAGS;
    const unsigned unknown = flags & ~(unsigned)GR_IMAGE_FLAGS;
    GR_REFUSE_IF(unknown,
                 "Flags 0x%x have unknown bits 0x%x. The flags are read_only (1), write_discard "
                 "(2), surface_load_store (4) and texture_gather (8).",
                 flags, unknown);
    if (for_images && !is_image) {
        char names[96];
        gr_flags_format(for_images, names, sizeof(names));
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The flag %s is for images; a buffer takes read_only or write_discard.",
                       names);
    }
    GR_REFUSE_IF((flags & GR_READ_ONLY) && (flags & GR_WRITE_DISCARD),
                 "read_only and write_discard exclude each other: pass one of them, or neither for "
                 "read-write access.");
    return GR_OK;
}
