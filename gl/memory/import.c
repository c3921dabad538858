/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports memory of CUDA or Vulkan into OpenGL. */
#include "gl/memory/memory.h"

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/import_handle.h"
#include "gl/context/saved_state.h"

gr_status gl_memory_import(struct gl_names *names, int fd, size_t size, bool dedicated)
{
    const GLint yes = GL_TRUE;
    const char *what = "glCreateMemoryObjectsEXT";
    glCreateMemoryObjectsEXT(1, &names->memory);
    if (dedicated)
        glMemoryObjectParameterivEXT(names->memory, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
    GLenum error = gl_errors_take();
    bool keeps = error != GL_NO_ERROR;
    if (error == GL_NO_ERROR) {
        what = "glImportMemoryFdEXT";
        glImportMemoryFdEXT(names->memory, size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
        error = gl_errors_take();
        /*
         * Only a successful import takes the fd. Mesa's CPU drivers are an exception: they always
         * close it.
         */
        keeps = error != GL_NO_ERROR && !gr_driver_traits()->mesa_draws;
    }
    if (keeps)
        gr_fd_close(fd);
    if (error == GL_NO_ERROR)
        return GR_OK;
    return GL_FAIL(error, what, "%s: OpenGL could not import %zu byte%s of memory.", gr_call, size,
                   gr_s(size));
}

gr_status gl_memory_import_cuda(struct gl_names *names, const struct gr_import *memory)
{
    int fd;
    GR_TRY(gr_import_export(memory, &fd));
    return gl_memory_import(names, fd, memory->size, true);
}
