/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kinds of OpenGL buffers and images. */
#include "kinds_parts.h"

#include <cuda.h>
#include <stdio.h>

#include "tests/drivers/fault_driver.h"
#include "tests/gl/gl_shared.h"
#include "tests/support/shader_calls.h"

/* ---- Bytes ----------------------------------------------------------------------------------- */

void gl_buffer_write(struct thing *thing, const unsigned char *bytes)
{
    gl_write(thing->image.name, bytes, THING_SIZE);
}

void gl_buffer_read(struct thing *thing, unsigned char *bytes)
{
    gl_read(thing->image.name, bytes, THING_SIZE);
}

void gl_image_write(struct thing *thing, const unsigned char *bytes)
{
    image_upload(&thing->image, 0, 0, bytes);
}

/* Not by glGetTexImage(), which returns old bytes of a shared texture once (docs/driver.md). */
void gl_image_read(struct thing *thing, unsigned char *bytes)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           thing->image.name, 0);
    glReadPixels(0, 0, THING_SIDE, THING_SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    assert_gl_clean();
}

/* How long the work takes depends on the GPU; the software renderer finishes it at once. */
void gl_delay(unsigned ms)
{
    (void)ms;
    gl_keep_busy();
}

/* ---- Reasons --------------------------------------------------------------------------------- */

static const char *transport_missing(gr_transport transport)
{
    static char reason[700];
    const gr_transport_info *info = must_make(gr_gl_probe(transport));
    snprintf(reason, sizeof(reason), "%s", info->reason);
    return info->usable ? NULL : reason;
}

const char *interop_missing(unsigned flags)
{
    (void)flags;
    return transport_missing(GR_TRANSPORT_INTEROP);
}

const char *copy_missing(unsigned flags)
{
    (void)flags;
    return transport_missing(GR_TRANSPORT_COPY);
}

const char *pinned_missing(unsigned flags)
{
    return fault ? copy_missing(flags) : "the program does not load the driver that fails";
}

const char *staging_missing(unsigned flags)
{
    (void)flags;
    return transport_missing(GR_TRANSPORT_PEER);
}

static bool watches;

/* Only OpenGL that pretends to be that of NVIDIA copies by a shader. */
const char *flight_missing(unsigned flags)
{
    if (flags == GR_READ_WRITE)
        return "frames in flight pass in one direction";
    if (!watches)
        watch_gl();
    watches = true;
    return transport_missing(GR_TRANSPORT_PEER);
}

void gl_kinds_end(void)
{
    if (watches)
        unwatch_gl();
    watches = false;
}

/* The number is an index into ways[]. */
const char *timelines_missing(unsigned flags)
{
    (void)flags;
    return way_missing(0);
}

const char *binaries_missing(unsigned flags)
{
    (void)flags;
    return way_missing(1);
}

const char *host_waits_missing(unsigned flags)
{
    (void)flags;
    return way_missing(2);
}

/* OpenGL imports only memory of the device that it draws on. */
const char *tensor_missing(unsigned flags)
{
    return fx.device == fixture_drawing_device() ? host_waits_missing(flags)
                                                 : "CUDA computes on another device than OpenGL";
}

/* ---- Objects of the application -------------------------------------------------------------- */

void make_registered(struct thing *thing)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = thing->kind->transport,
                                          .in_flight = thing->kind->in_flight);
    if (thing->kind->is_image) {
        thing->image = image_make("RGBA8", "2D", THING_SIDE, THING_SIDE, 1);
        thing->resource =
            gr_from_gl_image_with(thing->image.name, GL_TEXTURE_2D, thing->flags, &options);
    } else {
        thing->image.name = gl_buffer(NULL, THING_SIZE);
        thing->resource = gr_from_gl_buffer_with(thing->image.name, thing->flags, &options);
    }
}

void make_pinned(struct thing *thing)
{
    ck_assert(fault->set("cuMemHostRegister", CUDA_ERROR_NOT_SUPPORTED, 0));
    make_registered(thing);
    ck_assert(fault->set("cuMemHostRegister", CUDA_SUCCESS, 0));
}

void end_gl(struct thing *thing)
{
    if (thing->kind->is_image)
        image_delete(&thing->image);
    else
        glDeleteBuffers(1, &thing->image.name);
}

/* ---- Objects of grinterop -------------------------------------------------------------------- */

static void make_shared_image(struct thing *thing, const gr_gl_options *options)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = THING_SIDE, .height = THING_SIDE);
    thing->resource = gr_create_gl_image(&desc, thing->flags, options);
    thing->image = (struct image){.format = image_format("RGBA8"),
                                  .target = image_target("2D"),
                                  .width = THING_SIDE,
                                  .height = THING_SIDE,
                                  .slices = 1,
                                  .layers = 1,
                                  .levels = 1};
}

void make_shared(struct thing *thing)
{
    if (thing->kind->is_image)
        make_shared_image(thing, &by_sharing);
    else
        thing->resource = gr_create_gl_buffer(THING_SIZE, thing->flags, &by_sharing);
    if (thing->resource)
        thing->image.name = gr_gl_name(thing->resource);
}

void make_of_tensor(struct thing *thing)
{
    const int64_t shape[] = {THING_SIZE};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = shape, .exportable = true);
    thing->tensor = gr_tensor_create(&desc, fx.stream);
    if (thing->tensor)
        thing->resource = gr_create_gl_buffer_of(thing->tensor, thing->flags, NULL);
    if (thing->resource)
        thing->image.name = gr_gl_name(thing->resource);
    gr_tensor_free(thing->tensor); /* the resource keeps it */
}
