/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The common setup of the examples. */
#include "session.h"

#include <stdio.h>

#include <grinterop/gl.h>

bool failed_to(const char *doing)
{
    fprintf(stderr, "Cannot %s: ", doing);
    gr_error_print(stderr, NULL);
    return false;
}

bool cuda_ok(CUresult result, const char *doing)
{
    if (result == CUDA_SUCCESS)
        return true;
    const char *name = "unknown error", *text = "no description";
    gr_cuda()->GetErrorName(result, &name);
    gr_cuda()->GetErrorString(result, &text);
    fprintf(stderr, "Cannot %s: the CUDA driver says %s (%s).\n", doing, name, text);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        fprintf(stderr, "Make the mesh or the picture smaller, or select another GPU with "
                        "CUDA_VISIBLE_DEVICES.\n");
    return false;
}

/* Prints the devices and drivers in use, since the results depend on them. */
static bool print_devices(const struct session *s)
{
    CUdevice device;
    char name[256] = "";
    int version = 0;
    if (!cuda_ok(s->cuda->CtxGetDevice(&device), "find the context's device") ||
        !cuda_ok(s->cuda->DeviceGetName(name, sizeof(name), device), "name the device") ||
        !cuda_ok(s->cuda->DriverGetVersion(&version), "ask for the driver's version"))
        return false;
    printf("CUDA     %s\n", name);
    printf("         driver %s, CUDA %d.%d%s\n", gr_cuda_driver_path(), version / 1000,
           version % 1000 / 10, gr_cuda_is_software() ? ", no GPU is used" : "");
    if (s->egl)
        printf("OpenGL   %s\n", s->egl->description);
    return true;
}

static bool open_cuda(struct session *s, int device)
{
    s->context = gr_cuda_context_create(device);
    if (!s->context)
        return failed_to("make a CUDA context");
    s->stream = gr_cuda_context_get_info(s->context)->stream;
    return true;
}

static bool open_opengl(struct session *s, int device)
{
    s->egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = device));
    return s->egl || failed_to("make an OpenGL context");
}

static bool load_driver(struct session *s)
{
    *s = (struct session){0};
    if (gr_cuda_load(true) != GR_OK)
        return failed_to("load a CUDA driver");
    s->cuda = gr_cuda();
    return true;
}

bool session_open_cuda(struct session *s)
{
    return load_driver(s) && open_cuda(s, 0) && print_devices(s);
}

bool session_open_current(struct session *s)
{
    int device = 0;
    if (!load_driver(s))
        return false;
    if (gr_gl_cuda_device(&device) != GR_OK)
        device = 0;
    return open_cuda(s, device) && print_devices(s);
}

bool session_open_device(struct session *s, int device)
{
    return load_driver(s) && open_opengl(s, device) && open_cuda(s, device);
}

bool session_open(struct session *s)
{
    return session_open_device(s, 0) && print_devices(s);
}

void session_close(struct session *s)
{
    for (int i = 0; s->images[i]; i++)
        s->cuda->ModuleUnload(s->modules[i]);
    gr_cuda_context_free(s->context);
    gr_egl_free(s->egl);
    *s = (struct session){0};
}

bool session_kernel(struct session *s, const struct kernel_image *image, const char *name,
                    CUfunction *kernel)
{
    int i = 0;
    while (s->images[i] && s->images[i] != image)
        i++;
    if (!s->images[i] && !kernel_image_load(image, &s->modules[i]))
        return false;
    s->images[i] = image;
    return cuda_ok(s->cuda->ModuleGetFunction(kernel, s->modules[i], name), "find a kernel");
}

bool session_launch(const struct session *s, CUfunction kernel, int width, int height,
                    void *arguments[])
{
    const unsigned across = ((unsigned)width + 31) / 32, down = ((unsigned)height + 7) / 8;
    return cuda_ok(
        s->cuda->LaunchKernel(kernel, across, down, 1, 32, 8, 1, 0, s->stream, arguments, NULL),
        "start a kernel");
}

bool session_finish(const struct session *s)
{
    return cuda_ok(s->cuda->StreamSynchronize(s->stream), "run the kernels");
}

gr_ring *session_ring(size_t size, int slots, unsigned transports, unsigned names[],
                      gr_transport *chosen)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports);
    gr_resource *buffers[SESSION_SLOTS] = {NULL};
    gr_ring *ring = NULL;
    int made = 0;
    while (made < slots && (buffers[made] = gr_create_gl_buffer(size, GR_WRITE_DISCARD, &options)))
        made++;
    if (made < slots)
        failed_to("create a buffer that CUDA shares");
    else if (!(ring = gr_ring_create(buffers, (size_t)slots, NULL)))
        failed_to("make a ring");
    else
        *chosen = gr_resource_get_info(buffers[0])->transport;
    for (int i = 0; i < made; i++) { /* the ring holds references to the buffers */
        names[i] = gr_gl_name(buffers[i]);
        gr_resource_free(buffers[i]);
    }
    return ring;
}

const char *transport_name(gr_transport transport)
{
    switch (transport) {
    case GR_TRANSPORT_INTEROP:
        return "interop";
    case GR_TRANSPORT_SHARED:
        return "shared";
    case GR_TRANSPORT_PEER:
        return "peer";
    case GR_TRANSPORT_EXTERNAL:
        return "external";
    default:
        return "copy";
    }
}
