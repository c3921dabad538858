/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL renderer of port. It sets clip control to the Vulkan conventions, rows from the top
 * and depth from 0 to 1, so that both renderers draw the same bytes. share() and the last line of
 * draw() use grinterop.
 */
#include "port_renderer.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "examples/support/cover.h"
#include "examples/support/mesh.h"
#include "port.h"
#include "examples/support/session.h"
#include "examples/support/shader.h"

enum { UNIFORMS = 0, PAPER = 1 }; /* the bindings of the shaders */

struct renderer {
    gr_egl *egl;
    int width, height;
    unsigned framebuffer, renderbuffers[2];
    unsigned background, surface; /* OpenGL programs */
    unsigned empty_array, mesh_array;
    unsigned vertices, indices, uniforms; /* OpenGL buffers */
    unsigned texture;
    unsigned transports;
    gr_resource **shared;
};

/* Runs once: registers the OpenGL objects with CUDA. The kernels overwrite them completely. */
static bool share(struct renderer *r)
{
    const gr_gl_options by = GR_INIT(gr_gl_options, .transports = r->transports);
    r->shared[PORT_VERTICES] = gr_from_gl_buffer_with(r->vertices, GR_WRITE_DISCARD, &by);
    r->shared[PORT_TEXTURE] = gr_from_gl_image_with(r->texture, GL_TEXTURE_2D,
                                                    GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE, &by);
    return (r->shared[PORT_VERTICES] && r->shared[PORT_TEXTURE]) ||
           failed_to("share the OpenGL vertices and texture with CUDA");
}

static bool draw(void *renderer, gr_submit *submit, const struct port_view *view,
                 unsigned char *pixels)
{
    const struct renderer *r = renderer;
    glNamedBufferSubData(r->uniforms, 0, sizeof(*view), view);
    glClear(GL_DEPTH_BUFFER_BIT);

    glDisable(GL_DEPTH_TEST);
    glUseProgram(r->background);
    glBindVertexArray(r->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);

    glEnable(GL_DEPTH_TEST);
    glUseProgram(r->surface);
    glBindVertexArray(r->mesh_array);
    glDrawElements(GL_TRIANGLES, (GLsizei)mesh_index_count(PORT_COLUMNS, PORT_ROWS),
                   GL_UNSIGNED_INT, NULL);
    glReadPixels(0, 0, r->width, r->height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    return gr_submit_commit(submit) == GR_OK || failed_to("commit a submit");
}

static void make_mesh(struct renderer *r)
{
    glCreateBuffers(1, &r->vertices);
    glNamedBufferStorage(r->vertices, PORT_COLUMNS * PORT_ROWS * sizeof(struct port_vertex), NULL,
                         0);
    const size_t count = mesh_index_count(PORT_COLUMNS, PORT_ROWS);
    glCreateBuffers(1, &r->indices);
    glNamedBufferStorage(r->indices, (GLsizeiptr)(count * sizeof(unsigned)), NULL,
                         GL_MAP_WRITE_BIT);
    unsigned *indices = glMapNamedBuffer(r->indices, GL_WRITE_ONLY);
    if (indices)
        mesh_indices(PORT_COLUMNS, PORT_ROWS, indices);
    glUnmapNamedBuffer(r->indices);

    glCreateVertexArrays(1, &r->mesh_array);
    glVertexArrayVertexBuffer(r->mesh_array, 0, r->vertices, 0, sizeof(struct port_vertex));
    glVertexArrayElementBuffer(r->mesh_array, r->indices);
    const unsigned offsets[] = {offsetof(struct port_vertex, place),
                                offsetof(struct port_vertex, normal)};
    for (unsigned i = 0; i < 2; i++) {
        glEnableVertexArrayAttrib(r->mesh_array, i);
        glVertexArrayAttribFormat(r->mesh_array, i, 4, GL_FLOAT, GL_FALSE, offsets[i]);
        glVertexArrayAttribBinding(r->mesh_array, i, 0);
    }
}

static void make_texture(struct renderer *r)
{
    glCreateTextures(GL_TEXTURE_2D, 1, &r->texture);
    glTextureStorage2D(r->texture, 1, GL_RGBA8, PORT_TEXTURE_WIDTH, PORT_TEXTURE_HEIGHT);
    glTextureParameteri(r->texture, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameteri(r->texture, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTextureParameteri(r->texture, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(r->texture, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glBindTextureUnit(PAPER, r->texture);
}

static bool make_target(struct renderer *r)
{
    const GLenum formats[2] = {GL_RGBA8, GL_DEPTH_COMPONENT32F};
    const GLenum attachments[2] = {GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT};
    glCreateFramebuffers(1, &r->framebuffer);
    glCreateRenderbuffers(2, r->renderbuffers);
    for (int i = 0; i < 2; i++) {
        glNamedRenderbufferStorage(r->renderbuffers[i], formats[i], r->width, r->height);
        glNamedFramebufferRenderbuffer(r->framebuffer, attachments[i], GL_RENDERBUFFER,
                                       r->renderbuffers[i]);
    }
    if (glCheckNamedFramebufferStatus(r->framebuffer, GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        fprintf(stderr, "OpenGL cannot draw a picture of %dx%d pixels: choose a smaller --size.\n",
                r->width, r->height);
        return false;
    }
    glBindFramebuffer(GL_FRAMEBUFFER, r->framebuffer);
    glViewport(0, 0, r->width, r->height);
    glClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE);
    return true;
}

static bool make_objects(struct renderer *r)
{
    r->background = shader_program(cover_vert.text, port_background_frag.text);
    r->surface = shader_program(port_surface_vert.text, port_surface_frag.text);
    if (r->background == 0 || r->surface == 0 || !make_target(r))
        return false;
    make_mesh(r);
    make_texture(r);
    glCreateVertexArrays(1, &r->empty_array);
    glCreateBuffers(1, &r->uniforms);
    glNamedBufferStorage(r->uniforms, sizeof(struct port_view), NULL, GL_DYNAMIC_STORAGE_BIT);
    glBindBufferBase(GL_UNIFORM_BUFFER, UNIFORMS, r->uniforms);
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR)
        fprintf(stderr, "OpenGL cannot create the mesh or the texture (error 0x%04x).\n", error);
    return error == GL_NO_ERROR;
}

/* Frees everything in reverse order: the registrations must end before the objects are deleted. */
static bool close_renderer(void *renderer)
{
    struct renderer *r = renderer;
    if (!r)
        return true;
    for (int i = 0; i < PORT_SHARED; i++)
        gr_resource_free(r->shared[i]);
    /* Deleting the context deletes the remaining objects. */
    gr_egl_free(r->egl);
    free(r);
    return true;
}

static bool make_context(struct renderer *r)
{
    r->egl = gr_egl_create(NULL);
    if (!r->egl)
        return failed_to("make an OpenGL context");
    printf("OpenGL   %s\n", r->egl->description);
    if (epoxy_gl_version() < 45) {
        fprintf(stderr, "This needs OpenGL 4.5, for glClipControl.\n");
        return false;
    }
    return true;
}

/* OpenGL always checks for errors, so `validate` has no effect. */
static void *open_renderer(int width, int height, bool validate, unsigned transports,
                           gr_resource *shared[PORT_SHARED])
{
    (void)validate;
    struct renderer *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    *r = (struct renderer){
        .width = width, .height = height, .transports = transports, .shared = shared};
    if (make_context(r) && make_objects(r) && share(r))
        return r;
    close_renderer(r);
    return NULL;
}

const struct port_renderer port_gl = {open_renderer, draw, close_renderer};
