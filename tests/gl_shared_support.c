/* SPDX-License-Identifier: Apache-2.0 */
/* See gl_shared.h. The program's own epoxy_has_gl_extension() is the one that libgr finds, too. */
#define _GNU_SOURCE
#include "gl_shared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const gr_gl_options by_sharing = {.transport = GR_TRANSPORT_SHARED};

const char *const *denied_extensions;

const struct way ways[] = {
    {"timeline semaphores", (const char *const[]){NULL}},
    {"binary semaphores", (const char *const[]){"GL_NV_timeline_semaphore", NULL}},
    {"waits of the thread",
     (const char *const[]){"GL_NV_timeline_semaphore", "GL_EXT_semaphore_fd", NULL}},
};

bool epoxy_has_gl_extension(const char *name)
{
    static bool (*epoxys)(const char *);
    if (epoxys == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "epoxy_has_gl_extension");
        memcpy(&epoxys, &symbol, sizeof symbol);
    }
    for (size_t i = 0; denied_extensions != NULL && denied_extensions[i] != NULL; i++)
        if (strcmp(denied_extensions[i], name) == 0)
            return false;
    return pretend_has(name) || epoxys(name);
}

/* Leaves nothing to be opened for good in a case, whose descriptors are counted. */
static void warm_up(void)
{
    static bool done;
    CUcontext context = NULL;
    if (done)
        return;
    done = true;
    ck_assert_int_eq(gr_cuda_load(true), GR_OK);
    const gr_cuda_api *cu = gr_cuda();
    pretend_start();
    gr_egl *egl = gr_egl_create(NULL);
    ck_assert_ptr_nonnull(egl);
    ck_assert_int_eq(cu->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ck_assert_int_eq(cu->cuCtxSetCurrent(context), CUDA_SUCCESS);
    gr_resource_free(gr_gl_buffer_create(64, GR_NONE, &by_sharing));
    const gr_gl_image_info info = {GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1, 1};
    gr_resource_free(gr_gl_image_create(&info, GR_NONE, &by_sharing));
    gr_clear_error();
    gr_egl_free(egl);
    cu->cuCtxSetCurrent(NULL);
    cu->cuDevicePrimaryCtxRelease(0);
}

static void allow_all(void)
{
    denied_extensions = NULL;
    pretend_semaphores(false);
}

/* What was closed while a stream used it is ended by the next that is made or closed. */
static void collect(void)
{
    CU(cuCtxSynchronize());
    allow_all();
    gr_resource_free(gr_gl_buffer_create(64, GR_NONE, &by_sharing));
    gr_clear_error();
    ck_assert_uint_eq(pretend_counts.alive, 0);
}

TCase *add_shared_case(Suite *suite, const char *name)
{
    TCase *made = add_case(suite, name);
    tcase_add_unchecked_fixture(made, warm_up, NULL);
    tcase_add_checked_fixture(made, allow_all, collect);
    return made;
}

const char *shared_missing(void)
{
    static gr_error error;
    gr_resource *resource = gr_gl_buffer_create(64, GR_NONE, &by_sharing);
    if (resource == NULL && gr_last_error(&error) == GR_ERR_UNSUPPORTED) {
        gr_clear_error();
        return error.message;
    }
    assert_made(resource);
    gr_resource_free(resource);
    return NULL;
}

gr_resource *must_share(size_t size, unsigned flags)
{
    gr_resource *resource = gr_gl_buffer_create(size, flags, &by_sharing);
    assert_made(resource);
    return resource;
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
