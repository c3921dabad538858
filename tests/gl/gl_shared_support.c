/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See gl_shared.h. grinterop also calls the epoxy_has_gl_extension() of this program. */
#define _GNU_SOURCE
#include "gl_shared.h"
#include "tests/support/next.h"

#include <string.h>

const char *const *denied_extensions;

const struct way ways[] = {
    {"timeline semaphores", (const char *const[]){NULL}},
    {"binary semaphores", (const char *const[]){"GL_NV_timeline_semaphore", NULL}},
    {"host waits", (const char *const[]){"GL_NV_timeline_semaphore", "GL_EXT_semaphore_fd", NULL}},
};

bool epoxy_has_gl_extension(const char *name)
{
    NEXT(epoxy_has_gl_extension);
    for (size_t i = 0; denied_extensions && denied_extensions[i]; i++)
        if (strcmp(denied_extensions[i], name) == 0)
            return false;
    return pretend_has(name) || next(name);
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

static void collect(void)
{
    allow_all();
    collect_sharing();
    ck_assert_uint_eq(pretend_counts.alive, 0);
}

TCase *with_ways(TCase *tcase)
{
    return with_fixture(with_first_use(tcase, use_pretended), allow_all, collect);
}

TCase *add_shared_case(Suite *suite, const char *name)
{
    return with_ways(add_case(suite, name));
}

const char *way_missing(int way)
{
    const char *reason = shared_missing();
    if (reason)
        return reason;
    denied_extensions = ways[way].denied;
    pretend_semaphores(true);
    return NULL;
}

gr_resource *must_share(size_t size, unsigned flags)
{
    return must_make(gr_create_gl_buffer(size, flags, &by_sharing));
}

void gl_keep_busy(void)
{
    const size_t size = 64 << 20;
    int rounds = gr_cuda_is_software() ? 1 : 40;
    GLuint name = 0;
    glCreateBuffers(1, &name);
    glNamedBufferStorage(name, (GLsizeiptr)size, NULL, 0);
    for (int i = 0; i < rounds; i++) {
        const unsigned char value = (unsigned char)i;
        glClearNamedBufferData(name, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &value);
    }
    glDeleteBuffers(1, &name);
}

GLuint gl_copy_of(GLuint name, size_t size)
{
    GLuint copy = gl_buffer_filled(size, 0xEE);
    glCopyNamedBufferSubData(name, copy, 0, 0, (GLsizeiptr)size);
    return copy;
}
