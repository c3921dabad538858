/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/copy/copy.h"

#include <stdint.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "gl/context/saved_state.h"

/* ---- Errors and writes before a batch is copied ---------------------------------------------- */

/* Makes writes by shaders visible to copies and in mapped memory. */
static void make_shader_writes_visible(const struct gl_context *context)
{
    if (context->version >= 42)
        glMemoryBarrier(GL_ALL_BARRIER_BITS);
}

/* ---- Bytes of buffers, through bindings that are restored ------------------------------------ */

/* Waits until OpenGL has executed earlier commands. */
static void read_buffer(GLuint name, size_t offset, void *to, size_t size)
{
    GL_SAVED(before, 0);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, name);
    glGetBufferSubData(target, (GLintptr)offset, (GLsizeiptr)size, to);
}

/* Whether the bound buffer can be mapped for writing. The application may map it persistently. */
static bool is_writable(GLenum target, const struct gl_resource *r)
{
    GLint flags = 0, mapped = GL_FALSE;
    if (!gl_buffer_is_immutable(r->name, &r->context))
        return true;
    glGetBufferParameteriv(target, GL_BUFFER_STORAGE_FLAGS, &flags);
    glGetBufferParameteriv(target, GL_BUFFER_MAPPED, &mapped);
    return flags & GL_MAP_WRITE_BIT && !mapped;
}

/*
 * Writes to the bound buffer, or leaves an OpenGL error. False if the bytes were lost meanwhile.
 * glBufferSubData may overtake earlier clears, copies and transform feedback (NVIDIA driver 580).
 */
static bool write_mapped(GLenum target, size_t offset, const void *from, size_t size)
{
    void *to = glMapBufferRange(target, (GLintptr)offset, (GLsizeiptr)size,
                                GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT);
    if (!to)
        return true;
    memcpy(to, from, size);
    return glUnmapBuffer(target);
}

/*
 * Writes by a copy from a scratch buffer, which is possible for any storage. The scratch buffer is
 * created if it is 0, and kept.
 */
static void write_through(GLenum target, GLuint *scratch, size_t offset, const void *from,
                          size_t size)
{
    if (!*scratch)
        glGenBuffers(1, scratch);
    GL_SAVED(before, 0);
    const GLenum at = gl_bind_buffer(&before, GL_COPY_WRITE_BUFFER, *scratch);
    glBufferData(at, (GLsizeiptr)size, from, GL_STREAM_COPY);
    glCopyBufferSubData(at, target, 0, (GLintptr)offset, (GLsizeiptr)size);
}

static void write_buffer(const struct gl_resource *r, size_t offset, const void *from, size_t size)
{
    GL_SAVED(before, 0);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, r->name);
    if (!is_writable(target, r) || !write_mapped(target, offset, from, size))
        write_through(target, &r->copy->scratch->buffer, offset, from, size);
}

/* ---- One object ------------------------------------------------------------------------------ */

/*
 * Copies `size` bytes between `at` in the current part of the host memory and `offset` in the
 * buffer object, to host memory if `read`.
 */
static void move_bytes(const struct gl_resource *r, size_t offset, size_t at, size_t size,
                       bool read)
{
    const struct gl_copy *copy = r->copy;
    const size_t staged = gl_copy_offset(copy) + at;
    if (copy->staging && read)
        glCopyNamedBufferSubData(r->name, copy->scratch->buffer, (GLintptr)offset, (GLintptr)staged,
                                 (GLsizeiptr)size);
    else if (copy->staging)
        glCopyNamedBufferSubData(copy->scratch->buffer, r->name, (GLintptr)staged, (GLintptr)offset,
                                 (GLsizeiptr)size);
    else if (read)
        read_buffer(r->name, offset, gl_copy_host(copy) + at, size);
    else
        write_buffer(r, offset, gl_copy_host(copy) + at, size);
}

static void move_image(const struct gl_resource *r, bool read)
{
    const struct gl_copy *copy = r->copy;
    if (copy->staging)
        gl_arrays_move(r, copy->scratch->buffer, gl_copy_offset(copy), copy->scratch, read);
    else
        gl_arrays_move(r, 0, (uintptr_t)gl_copy_host(copy), copy->scratch, read);
}

static void read_object(const struct gl_resource *r, size_t offset, size_t size)
{
    if (r->copy->staging == GL_STAGING_OBJECT)
        return;
    if (r->base.is_image)
        move_image(r, true);
    else
        move_bytes(r, offset, 0, size, true);
}

/* Writes a buffer in pieces: writes each piece while the next one is in transit to host memory. */
static gr_status write_pieces(const struct gl_resource *r, size_t offset, size_t size)
{
    const struct gl_copy *copy = r->copy;
    const struct gl_pieces pieces = gl_pieces_of(copy, size);
    for (unsigned i = 0; i < pieces.count; i++) {
        size_t at = i * pieces.step;
        if (pieces.count > 1)
            GR_TRY(gl_copy_wait(copy->piece_ends[i], &r->base));
        move_bytes(r, offset + at, at, gl_piece_size(&pieces, at), false);
    }
    return GR_OK;
}

/*
 * Writes to the object from the current part. OpenGL has finished with the part once the fence is
 * signalled.
 */
static gr_status write_object(const struct gl_resource *r, size_t offset, size_t size)
{
    const struct gl_copy *copy = r->copy;
    gr_status status = GR_OK;
    if (copy->staging == GL_STAGING_OBJECT)
        return GR_OK;
    /* the copies of the pieces must be waited for, even if their data is lost */
    if (!gl_object_intact(&r->base))
        return gl_copy_wait(r->base.sync.work.event, &r->base);
    if (r->base.is_image)
        move_image(r, false);
    else
        status = write_pieces(r, offset, size);
    if (copy->staging)
        gl_fence_put(copy->scratch);
    return status;
}

/*
 * Whether a fence follows the last OpenGL use of the object's own storage. Only rings put such a
 * fence.
 */
static bool has_fence(const struct gl_resource *r)
{
    return r->copy->staging == GL_STAGING_OBJECT && r->base.in_a_ring && r->copy->scratch->fence;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/*
 * If OpenGL reports an error, the data that a ring owes stays pending, so that the next call writes
 * it again.
 */
gr_status gl_copy_write_objects(gr_resource *const resources[], size_t n)
{
    gr_status status = GR_OK;
    GL_SAVED(before, GL_SAVE(ERRORS));
    make_shader_writes_visible(&gl_of(resources[0])->context);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        const struct gl_resource *r = gl_of(resources[i]);
        if (r->base.mapped && gr_resource_writes(resources[i]))
            status = write_object(r, gl_copy_part(r)->offset, gl_copy_part(r)->part);
        else if (r->copy->owed)
            status = write_object(r, 0, r->base.size); /* a ring maps whole buffers */
    }
    if (status == GR_OK)
        status =
            gl_object_check_copied(resources[0], n, "glMapBufferRange, glTexSubImage", "take back");
    for (size_t i = 0; i < n && status == GR_OK; i++)
        gl_of(resources[i])->copy->owed = false;
    return status;
}

static bool needs_read(const gr_resource *resource)
{
    return gr_resource_reads(resource) && !gl_of(resource)->copy->fetched;
}

gr_status gl_copy_check_mappable(gr_resource *const resources[], size_t n, CUstream stream,
                                 const char *call)
{
    /* A CUDA registration keeps immutable storage alive, but the copy transport does not. */
    GR_TRY(gl_object_check_storage(resources, n, stream, call));
    for (size_t i = 0; i < n; i++)
        if (needs_read(resources[i]) || gl_copy_writes_first(gl_of(resources[i])))
            GR_TRY(gl_object_check_unlocked(resources[i], call));
    return GR_OK;
}

/*
 * Writes the pending data. Call this function before any other read or write, because all of them
 * use the same host memory.
 */
static gr_status write_owed(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gl_copy_writes_first(gl_of(resources[i])))
            GR_TRY(gl_copy_write_objects(&resources[i], 1));
    return GR_OK;
}

static void issue_reads(gr_resource *const resources[], size_t n)
{
    struct gl_names *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = gl_of(resources[i]);
        if (!needs_read(resources[i]))
            continue;
        read_object(r, gl_copy_part(r)->offset, gl_copy_part(r)->part);
        if (r->copy->staging && !has_fence(r))
            last = r->copy->scratch;
    }
    if (last)
        gl_fence_put(last); /* the fence is after all commands of the batch */
}

static gr_status wait_for_reads(gr_resource *const resources[], size_t n)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (gr_resource_reads(resources[i]))
            status = gl_fence_wait(gl_of(resources[i])->copy->scratch, resources[i], "gr_map");
    for (size_t i = 0; i < n; i++)
        gl_of(resources[i])->copy->fetched = false;
    return status;
}

gr_status gl_copy_read_objects(gr_resource *const resources[], size_t n)
{
    GR_TRY(write_owed(resources, n));
    GL_SAVED(before, GL_SAVE(ERRORS));
    make_shader_writes_visible(&gl_of(resources[0])->context);
    issue_reads(resources, n);
    GR_TRY(wait_for_reads(resources, n));
    return gl_object_check_copied(resources[0], n, "glGetBufferSubData, glGetTexImage", "read");
}

static void read_pieces(const struct gl_resource *r, struct __GLsync *fences[])
{
    const struct gl_pieces pieces = gl_pieces_of(r->copy, gl_copy_part(r)->part);
    for (unsigned i = 0; i < pieces.count; i++) {
        size_t at = i * pieces.step;
        move_bytes(r, gl_copy_part(r)->offset + at, at, gl_piece_size(&pieces, at), true);
        fences[i] = gl_fence_make();
        glFlush();
    }
}

gr_status gl_copy_read_pieces(gr_resource *resource, struct __GLsync *fences[])
{
    GR_TRY(write_owed(&resource, 1));
    GL_SAVED(before, GL_SAVE(ERRORS));
    make_shader_writes_visible(&gl_of(resource)->context);
    read_pieces(gl_of(resource), fences);
    gr_status status = gl_object_check_copied(resource, 1, "glCopyNamedBufferSubData", "read");
    for (unsigned i = 0; i < GL_COPY_MOST_PIECES && status != GR_OK; i++)
        glDeleteSync(fences[i]); /* NULL is allowed here */
    return status;
}

/* Waits until OpenGL has finished with the part that is written next. */
static gr_status await_part(const struct gl_resource *r, const char *call)
{
    struct gl_names *names = r->copy->scratch;
    return r->copy->turns > 1 ? gl_fence_wait_oldest(names, &r->base, call)
                              : gl_fence_wait(names, &r->base, call);
}

gr_status gl_copy_wait_writable(gr_resource *const resources[], size_t n, const char *call)
{
    struct gl_names *last = NULL;
    for (size_t i = 0; i < n; i++)
        if (gl_of(resources[i])->copy->staging == GL_STAGING_OBJECT &&
            !has_fence(gl_of(resources[i])))
            last = gl_of(resources[i])->copy->scratch;
    if (last) {
        make_shader_writes_visible(&gl_of(resources[0])->context);
        gl_fence_put(last);
    }
    for (size_t i = 0; i < n; i++)
        if (gr_resource_writes(resources[i]))
            GR_TRY(await_part(gl_of(resources[i]), call));
    return GR_OK;
}

/* Starts a copy of the data that CUDA will read. True if OpenGL commands were issued. */
static bool fetch_ahead(const struct gl_resource *r)
{
    struct gl_copy *copy = r->copy;
    if (!copy->staging || (gr_resource_writes(&r->base) && copy->staging != GL_STAGING_OBJECT))
        return false;
    read_object(r, 0, r->base.size);
    copy->fetched = copy->staging != GL_STAGING_OBJECT;
    gl_fence_put(copy->scratch);
    return copy->fetched;
}

static gr_status fetch_all_ahead(gr_resource *const resources[], size_t n)
{
    bool told = false;
    GL_SAVED(before, GL_SAVE(ERRORS));
    make_shader_writes_visible(&gl_of(resources[0])->context);
    for (size_t i = 0; i < n; i++)
        told = fetch_ahead(gl_of(resources[i])) || told;
    if (told)
        glFlush();
    return gl_object_check_copied(resources[0], n, "glCopyBufferSubData, glGetTexImage", "read");
}

static struct gl_copy *copy_of(const gr_resource *resource)
{
    return gl_of(resource)->copy;
}

/* ---- OpenGL acquires ------------------------------------------------------------------------- */

/*
 * Waits for the data. The checks that can fail come before any copy. The pieces of a large buffer
 * are waited for separately, just before each is copied.
 */
static gr_status wait_for_bytes(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (copy_of(resources[i])->owed)
            GR_TRY(gl_object_check_unlocked(resources[i], "acquire"));
    for (size_t i = 0; i < n; i++)
        if (copy_of(resources[i])->owed &&
            gl_pieces_of(copy_of(resources[i]), resources[i]->size).count == 1)
            GR_TRY(gl_copy_wait(resources[i]->sync.work.event, resources[i]));
    return GR_OK;
}

gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n)
{
    bool owed = false;
    for (size_t i = 0; i < n; i++)
        owed = owed || copy_of(resources[i])->owed;
    if (!owed)
        return GR_OK;
    GR_ENTER(&resources[0]->context, "OpenGL's turn");
    GR_TRY(wait_for_bytes(resources, n));
    return gl_copy_write_objects(resources, n);
}

/* ---- OpenGL releases ------------------------------------------------------------------------- */

static bool is_fetched_ahead(const gr_resource *resource)
{
    return !gr_resource_writes(resource) && copy_of(resource)->staging;
}

/* Makes the same checks as a map that reads. */
static gr_status check_fetched(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_fetched_ahead(resources[i]))
            continue;
        GR_TRY(gl_object_check_storage(resources + i, 1, NULL, "hand-over"));
        GR_TRY(gl_object_check_unlocked(resources[i], "hand-over"));
    }
    return GR_OK;
}

gr_status gl_copy_end_use(gr_resource *const resources[], size_t n)
{
    GR_TRY(check_fetched(resources, n));
    GR_ENTER(&resources[0]->context, "The end of OpenGL's turn");
    /* data that was fetched but never read may be overwritten */
    for (size_t i = 0; i < n; i++)
        if (is_fetched_ahead(resources[i]) && !copy_of(resources[i])->fetched)
            GR_TRY(gl_copy_select_next(gl_of(resources[i])));
    return fetch_all_ahead(resources, n);
}
