/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers of the shared transport: CUDA memory that is exported to OpenGL. */
#include "gl/memory/memory.h"

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/device.h"
#include "lib/cuda/end_after_event.h"
#include "lib/external/external.h"
#include "gl/context/saved_state.h"

/*
 * Creates the storage of the buffer. llvmpipe reports only at this step that the memory could not
 * be allocated.
 */
static gr_status make_storage(struct gl_names *names, const struct gr_import *memory, size_t size,
                              GLuint object, size_t offset)
{
    glCreateBuffers(1, &names->buffer);
    glNamedBufferStorageMemEXT(names->buffer, (GLsizeiptr)size, object, offset);
    GLenum error = gl_errors_take();
    size_t found = error == GL_NO_ERROR ? gl_buffer_storage(names->buffer, true) : 0;
    if (found == size)
        return GR_OK;
    GR_TRY(error == GL_NO_ERROR ? gl_errors_check_lost() : GR_OK);
    return GL_FAIL(error, "glNamedBufferStorageMemEXT",
                   "%s: OpenGL did not create the buffer of %zu byte%s in the CUDA memory, "
                   "whose size is %zu; the buffer's size is %zu.",
                   gr_call, size, gr_s(size), memory->size, found);
}

/* ---- Memory of a tensor ---------------------------------------------------------------------- */

/* Checks that OpenGL can place a buffer in the allocation of the tensor. */
static gr_status check_place(const struct gl_shared *r, const struct gr_tensor_memory *memory)
{
    char draws[200], has[200];
    if (memory->device != r->device) {
        gr_device_text(r->device, draws, sizeof(draws));
        gr_device_text(memory->device, has, sizeof(has));
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "OpenGL draws on %s, but the memory of the tensor is on %s: allocate it on "
                       "the device that draws, or copy it to a buffer by gr_publish().",
                       draws, has);
    }
    if (memory->offset && !gl_blocks_supported())
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The tensor begins %zu byte%s after the start of its allocation, but Mesa "
                       "places each buffer at the start: use a tensor with memory of its own.",
                       memory->offset, gr_s(memory->offset));
    return GR_OK;
}

static gr_status make_of_tensor(struct gl_shared *r, const struct gr_context *cuda,
                                const struct gl_wish *wish)
{
    struct gr_tensor_memory *memory = wish->memory;
    GR_TRY(check_place(r, memory));
    gr_import_hold(&memory->import);
    gr_external_make_buffer(&r->gl.external, cuda, &memory->import, memory->size, wish->flags);
    GR_TRY(gl_memory_import_cuda(r->gl.owned, &memory->import));
    return make_storage(r->gl.owned, &memory->import, memory->size, r->gl.owned->memory,
                        memory->offset);
}

/* ---- Memory of its own ----------------------------------------------------------------------- */

static gr_status make_packed(struct gl_shared *r, const struct gr_context *cuda,
                             const struct gl_wish *wish)
{
    gr_endings_collect();
    struct gl_part *part = gl_part_make(r->gl.owned, cuda, r->device, wish->size);
    if (!part)
        return gr_last_error()->status;
    gr_external_make_buffer(&r->gl.external, cuda, &part->import, wish->size, wish->flags);
    return make_storage(r->gl.owned, &part->import, wish->size, part->memory, part->offset);
}

gr_status gl_memory_make_buffer(struct gl_shared *r, const struct gr_context *cuda,
                                const struct gl_wish *wish)
{
    if (wish->memory)
        return make_of_tensor(r, cuda, wish);
    if (wish->packed && wish->size <= GL_BLOCK_MOST && gl_blocks_supported())
        return make_packed(r, cuda, wish);
    const size_t room = gr_driver_traits()->mesa_draws ? GR_MESA_ROOM : 0;
    gr_endings_collect();
    struct gr_import *memory = gr_import_new(r->device, wish->size + room);
    if (!memory)
        return gr_last_error()->status;
    gr_external_make_buffer(&r->gl.external, cuda, memory, wish->size, wish->flags);
    GR_TRY(gl_memory_import_cuda(r->gl.owned, memory));
    return make_storage(r->gl.owned, memory, wish->size, r->gl.owned->memory, 0);
}
