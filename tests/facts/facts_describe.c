/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What gr_resource_describe() and gr_resource_get_info() say of all kinds of resources. */
#include "tests/kinds/kinds.h"

#include <stdio.h>
#include <string.h>

GROUP("descriptions", add_kinds_case)

/* Images that kernels may write to have surface_load_store in place of read_write. */
static const struct {
    unsigned flags;
    const char *text;
} passes[] = {{GR_READ_ONLY, "read_only"}, {GR_WRITE_DISCARD, "write_discard"}};

static const char *description(const gr_resource *resource)
{
    static char text[1024];
    const int length = gr_resource_describe(resource, text, sizeof(text));
    ck_assert_int_eq(length, (int)strlen(text));
    ck_assert_ptr_null(strchr(text, '\n'));
    return text;
}

static bool says(const struct thing *thing, const char *part)
{
    return strstr(description(thing->resource), part);
}

#define assert_says(thing, part)                                                                   \
    ck_assert_msg(says(thing, part), "\"%s\" is not in: %s", part, description((thing)->resource))
#define assert_silent(thing, part)                                                                 \
    ck_assert_msg(!says(thing, part), "\"%s\" is in: %s", part, description((thing)->resource))

FACT(describe_reports_kind_and_flags, passes[_i].flags, 2)
{
    assert_says(thing, thing->kind->says);
    assert_says(thing, thing->kind->object);
    assert_says(thing, passes[_i].text);
    ck_assert_int_eq(says(thing, "software"), gr_cuda_is_software());
}

FACT(describe_reports_the_state, passes[_i].flags, 2)
{
    char where[64] = ", mapped"; /* an image has no address */
    assert_says(thing, "not mapped");
    gr_buffer *buffer = thing_map(thing);
    if (gr_buffer_ptr(buffer))
        snprintf(where, sizeof(where), ", mapped at 0x%llx",
                 (unsigned long long)gr_buffer_ptr(buffer));
    assert_says(thing, where);
    assert_silent(thing, "not mapped");
    assert_ok(gr_buffer_release(buffer));
    assert_says(thing, "not mapped");
    assert_ok(gr_resource_close(thing->resource, GR_STREAM_OF_MAP));
    assert_says(thing, "closed");
    assert_says(thing, thing->kind->object);
    assert_silent(thing, "not mapped");
    assert_silent(thing, ", mapped");
}

FACT(describe_truncates_and_returns_the_length_like_snprintf, passes[_i].flags, 2)
{
    char whole[1024], part[10];
    const int length = gr_resource_describe(thing->resource, whole, sizeof(whole));
    ck_assert_int_eq(gr_resource_describe(thing->resource, NULL, 0), length);
    memset(part, 'x', sizeof(part));
    ck_assert_int_eq(gr_resource_describe(thing->resource, part, sizeof(part) - 1), length);
    ck_assert_int_eq(strncmp(part, whole, sizeof(part) - 2), 0);
    ck_assert_int_eq(part[sizeof(part) - 2], '\0');
    ck_assert_int_eq(part[sizeof(part) - 1], 'x');
}

FACT(info_reports_what_was_made, passes[_i].flags, 2)
{
    const gr_resource_info *info = must_make(gr_resource_get_info(thing->resource));
    ck_assert_int_eq(info->kind, thing->kind->is_image ? GR_KIND_IMAGE : GR_KIND_BUFFER);
    ck_assert_int_eq(info->api, thing->kind->api);
    ck_assert_int_eq(info->transport, thing->kind->transport);
    ck_assert_uint_eq(info->flags & (GR_READ_ONLY | GR_WRITE_DISCARD), thing->flags);
    ck_assert_uint_eq(info->size, thing->kind->is_image ? 0 : THING_SIZE);
    ck_assert(!info->mapped && !info->closed);
}
