/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The contract of register, map, buffer, release and close, case by case: the contract of
 * GraphicsResource in cuda.core, and the additional guarantees of grinterop.
 */
#include "contract.h"

#include <string.h>

struct seen seen;

static void listen(void *user, gr_log_level level, const char *line)
{
    (void)user;
    if (level == GR_LOG_WARNING)
        seen.warnings++;
    if (level == GR_LOG_DEBUG && strstr(line, "closed"))
        seen.closed++;
}

void start_listening(void)
{
    seen.closed = seen.warnings = 0;
    gr_log_add(GR_LOG_DEBUG, listen, NULL);
}

void stop_listening(void)
{
    gr_log_remove(listen, NULL);
}

TCase *add_sharing_case(Suite *suite, const char *name)
{
    return with_sharing(add_resource_case(suite, name));
}

gr_resource *make_resource(int kind, GLuint *name)
{
    gr_resource *resource = NULL;
    if (kind == 0) {
        *name = gl_buffer_filled(SIZE, 1);
        resource = must_register(*name);
    } else {
        const gr_gl_options options = GR_INIT(
            gr_gl_options, .transports = kind == 1 ? GR_TRANSPORT_COPY : GR_TRANSPORT_SHARED);
        resource = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options);
        if (resource)
            *name = gr_gl_name(resource);
    }
    return resource;
}

START(resource_case_buffer(SIZE, 1))
