/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/copy/copy.h"

#include <stdint.h>
#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/machine.h"
#include "gl/context/saved_state.h"

#define ACCESS (GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT)

/* A second in nanoseconds: the timeout of one wait; waits are repeated. */
#define A_SECOND 1000000000u

bool gl_staging_supported(const struct gl_context *context)
{
    return context->direct && context->storage;
}

/* The flags place the storage in host memory, which the copy engines of both APIs access. */
unsigned int gl_staging_storage_flags(void)
{
    return ACCESS | GL_CLIENT_STORAGE_BIT;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static bool can_use_object(const struct gl_resource *r)
{
    GLint flags = 0;
    if (!r->owned || r->base.is_image)
        return false;
    glGetNamedBufferParameteriv(r->name, GL_BUFFER_STORAGE_FLAGS, &flags);
    return ((unsigned)flags & ACCESS) == ACCESS;
}

static bool make_buffer(struct gl_names *names, size_t size)
{
    glCreateBuffers(1, &names->buffer);
    glNamedBufferStorage(names->buffer, (GLsizeiptr)size, NULL, gl_staging_storage_flags());
    return gl_errors_take() == GL_NO_ERROR;
}

static void delete_buffer(struct gl_names *names)
{
    glDeleteBuffers(1, &names->buffer);
    names->buffer = 0;
}

static unsigned char *map_buffer(unsigned int name, size_t size)
{
    void *mapping = glMapNamedBufferRange(name, 0, (GLsizeiptr)size, ACCESS);
    return gl_errors_take() == GL_NO_ERROR ? mapping : NULL;
}

static void note_fallback(struct gl_copy *copy, const char *why, const char *code)
{
    snprintf(copy->way, sizeof(copy->way), "through pinned host memory, since %s%s%s", why,
             code[0] ? ": " : "", code);
}

/* Registers the memory with CUDA if possible. */
static bool register_bytes(struct gl_copy *copy, unsigned char *bytes, size_t size)
{
    CUresult result = gr_driver()->MemHostRegister(bytes, size, 0);
    if (result == CUDA_SUCCESS) {
        copy->host = bytes;
        return true;
    }
    note_fallback(copy, "cuMemHostRegister refused the memory that OpenGL has mapped",
                  gr_cuda_error_name(result));
    return false;
}

/* Uses the object's own storage as the staging memory: then only CUDA copies. */
static bool take_object(const struct gl_resource *r, struct gl_copy *copy)
{
    unsigned char *bytes = map_buffer(r->name, copy->size);
    if (bytes && register_bytes(copy, bytes, copy->size)) {
        copy->staging = GL_STAGING_OBJECT;
        snprintf(copy->way, sizeof(copy->way), "into its own storage, which OpenGL has mapped");
        return true;
    }
    if (bytes)
        glUnmapNamedBuffer(r->name);
    return false;
}

static unsigned count_turns(unsigned flags)
{
    return flags & GR_READ_ONLY ? 2 : flags & GR_WRITE_DISCARD ? GL_COPY_TURNS : 1;
}

static void take_buffer(struct gl_copy *copy, unsigned flags)
{
    const unsigned turns = count_turns(flags);
    size_t size = turns * copy->stride, page = gr_machine_page();
    unsigned char *mapping = NULL;
    if (make_buffer(copy->scratch, size + page))
        mapping = map_buffer(copy->scratch->buffer, size + page);
    if (!mapping) {
        note_fallback(copy, "OpenGL could not keep a buffer of that size mapped", "");
        delete_buffer(copy->scratch);
        return;
    }
    copy->first = (page - (uintptr_t)mapping % page) % page;
    if (!register_bytes(copy, mapping + copy->first, size)) {
        delete_buffer(copy->scratch);
        return;
    }
    copy->staging = GL_STAGING_BUFFER;
    copy->turns = turns;
    snprintf(copy->way, sizeof(copy->way), "through a buffer that OpenGL has mapped");
}

void gl_staging_make(const struct gl_resource *r, struct gl_copy *copy, unsigned flags)
{
    const char *why = gl_copy_by_cpu(copy->size, flags) ? "up to " GL_COPY_BY_CPU_TEXT
                                                          " the CPU copy is faster"
                      : !gl_staging_supported(&r->context)
                          ? "OpenGL lacks GL_ARB_buffer_storage or GL_ARB_direct_state_access"
                          : NULL;
    if (why) {
        note_fallback(copy, why, "");
        return;
    }
    GL_SAVED(before, GL_SAVE(ERRORS));
    if (flags & GR_READ_ONLY || !can_use_object(r) || !take_object(r, copy))
        take_buffer(copy, flags);
}

/* ---- Fences ---------------------------------------------------------------------------------- */

struct __GLsync *gl_fence_make(void)
{
    struct __GLsync *fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence)
        glFinish(); /* nothing else waits for OpenGL; only a program without memory comes here */
    return fence;
}

gr_status gl_fence_pass(struct __GLsync *fence, const gr_resource *resource, const char *call)
{
    GLenum found;
    if (!fence)
        return GR_OK;
    do
        found = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, A_SECOND);
    while (found == GL_TIMEOUT_EXPIRED && !gr_context_has_failed(&resource->context));
    glDeleteSync(fence);
    if (found == GL_TIMEOUT_EXPIRED) /* OpenGL may wait for a signal of CUDA */
        return gr_fail(GR_ERR_DEVICE_LOST, call,
                       "Earlier work in the CUDA context has failed, such as a kernel, and OpenGL "
                       "has not finished with %s. Check that work (compute-sanitizer).",
                       gl_object_text(resource).text);
    if (found != GL_WAIT_FAILED)
        return GR_OK;
    GR_TRY(gl_errors_check_lost(call));
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)found, "GL_WAIT_FAILED",
                        "glClientWaitSync",
                        "%s: OpenGL did not report that it has finished with %s. Was its context "
                        "lost (glGetGraphicsResetStatus)?",
                        call, gl_object_text(resource).text);
}

void gl_fence_put(struct gl_names *names)
{
    if (names->fence)
        glDeleteSync(names->fence);
    names->fence = gl_fence_make();
}

gr_status gl_fence_wait_oldest(struct gl_names *names, const gr_resource *resource,
                               const char *call)
{
    struct __GLsync **oldest = &names->older[GL_OLDER_FENCES - 1], *fence = *oldest;
    *oldest = NULL;
    return gl_fence_pass(fence, resource, call);
}

void gl_fence_keep(struct gl_names *names)
{
    for (unsigned i = GL_OLDER_FENCES - 1; i > 0; i--)
        names->older[i] = names->older[i - 1];
    names->older[0] = names->fence;
    names->fence = NULL;
}

gr_status gl_fence_wait(struct gl_names *names, const gr_resource *resource, const char *call)
{
    struct __GLsync *fence = names->fence;
    names->fence = NULL;
    return gl_fence_pass(fence, resource, call);
}
