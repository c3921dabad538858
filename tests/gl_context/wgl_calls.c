/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources of buffers and textures: their bytes, and which driver calls are made in which order.
 */
#include "wgl.h"

#include <string.h>

#include <grinterop/publish.h>
#include <grinterop/share.h>

enum { BYTES = 256 };

static void fill(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + seed);
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* Exactly these calls must have reached the driver, with STREAM if they take a stream. */
static const char *calls_are(const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct followed *call = follower->nth(i);
        if (!call || strcmp(call->call, names[i]) != 0)
            FAIL("call %zu is %s instead of %s", i, call ? call->call : "missing", names[i]);
        if (call->count > 0 && call->stream != STREAM)
            FAIL("%s is on stream %p", call->call, (void *)call->stream);
    }
    if (follower->nth(count))
        FAIL("there is one more call, %s", follower->nth(count)->call);
    return NULL;
}

#define CALLS_ARE(...)                                                                             \
    PASS_ON(calls_are((const char *const[]){__VA_ARGS__},                                          \
                      COUNT(((const char *const[]){__VA_ARGS__}))))

#define REGISTER_BUFFER "cuGraphicsGLRegisterBuffer"
#define REGISTER_IMAGE  "cuGraphicsGLRegisterImage"
#define MAP             "cuGraphicsMapResources"
#define POINTER         "cuGraphicsResourceGetMappedPointer"
#define ARRAY           "cuGraphicsSubResourceGetMappedArray"
#define UNMAP           "cuGraphicsUnmapResources"
#define UNREGISTER      "cuGraphicsUnregisterResource"

static const char *a_buffer_is_registered_mapped_and_closed(void)
{
    GLuint name = wgl_buffer(NULL, BYTES);
    gr_resource *resource = gr_from_gl_buffer(name, GR_WRITE_DISCARD);
    REQUIRE(resource);
    gr_buffer *buffer = gr_map(resource, STREAM);
    REQUIRE(buffer && gr_buffer_size(buffer) == BYTES && follower->mapped() == 1);
    REQUIRE(gr_buffer_release(buffer) == GR_OK && follower->mapped() == 0);
    gr_resource_free(resource);
    CALLS_ARE(REGISTER_BUFFER, MAP, POINTER, UNMAP, UNREGISTER);
    const struct followed *registration = follower->nth(0);
    REQUIRE(registration->name == name);
    REQUIRE(registration->flags == CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    for (size_t i = 1; i < 5; i++)
        REQUIRE(follower->nth(i)->resource == registration->resource);
    return NULL;
}

static const char *the_flags_reach_the_driver(void)
{
    static const struct {
        unsigned given, registered;
    } rows[] = {{GR_READ_WRITE, CU_GRAPHICS_REGISTER_FLAGS_NONE},
                {GR_READ_ONLY, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY},
                {GR_WRITE_DISCARD, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD}};
    GLuint name = wgl_buffer(NULL, BYTES);
    for (size_t i = 0; i < COUNT(rows); i++) {
        follower->reset();
        GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(name, rows[i].given);
        REQUIRE(resource && follower->nth(0)->flags == rows[i].registered);
    }
    return NULL;
}

static const char *map_many_needs_one_driver_call(void)
{
    gr_resource *resources[2];
    gr_buffer *buffers[2];
    for (size_t i = 0; i < 2; i++)
        REQUIRE((resources[i] = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE)));
    REQUIRE(gr_map_many(resources, 2, STREAM, NULL, buffers) == GR_OK);
    REQUIRE(follower->mapped() == 2);
    REQUIRE(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL) == GR_OK);
    for (size_t i = 0; i < 2; i++)
        gr_resource_free(resources[i]);
    CALLS_ARE(REGISTER_BUFFER, REGISTER_BUFFER, MAP, POINTER, POINTER, UNMAP, UNREGISTER,
              UNREGISTER);
    REQUIRE(follower->nth(2)->count == 2 && follower->nth(5)->count == 2);
    return NULL;
}

static const char *release_after_map_gl_buffer_ends_the_registration(void)
{
    gr_buffer *buffer = gr_map_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE, STREAM);
    REQUIRE(buffer && gr_buffer_release(buffer) == GR_OK);
    CALLS_ARE(REGISTER_BUFFER, MAP, POINTER, UNMAP, UNREGISTER);
    return NULL;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* CUDA reads the bytes of OpenGL, and OpenGL reads the bytes that CUDA wrote. */
static const char *exchange(gr_resource *resource, GLuint name, const unsigned char *before)
{
    unsigned char bytes[BYTES], after[BYTES];
    fill(after, BYTES, 99);
    gr_buffer *buffer = gr_map(resource, STREAM);
    REQUIRE(buffer);
    CUdeviceptr at = gr_buffer_ptr(buffer);
    REQUIRE(gr_cuda()->MemcpyDtoHAsync(bytes, at, BYTES, STREAM) == CUDA_SUCCESS);
    REQUIRE(memcmp(bytes, before, BYTES) == 0);
    REQUIRE(gr_cuda()->MemcpyHtoDAsync(at, after, BYTES, STREAM) == CUDA_SUCCESS);
    PASS_ON(wgl_buffer_has(name, before, BYTES));
    REQUIRE(gr_buffer_release(buffer) == GR_OK);
    return wgl_buffer_has(name, after, BYTES);
}

static const char *bytes_of(const gr_gl_options *options)
{
    unsigned char bytes[BYTES];
    fill(bytes, BYTES, 3);
    GLuint name = wgl_buffer(bytes, BYTES);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, options);
    REQUIRE(resource);
    return exchange(resource, name, bytes);
}

static const char *interop_passes_bytes_both_ways(void)
{
    return bytes_of(NULL);
}

static const char *copies_pass_bytes_both_ways(void)
{
    const gr_gl_options copies = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY);
    PASS_ON(bytes_of(&copies));
    REQUIRE(!follower->nth(0)); /* no call registered anything */
    return NULL;
}

static const char *a_created_buffer_passes_bytes_both_ways(void)
{
    unsigned char bytes[BYTES];
    fill(bytes, BYTES, 5);
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    GR_AUTO(gr_resource) *resource = gr_create_gl_buffer(BYTES, GR_READ_WRITE, &any);
    REQUIRE(resource);
    /* The storage is immutable, so the bytes are copied from another buffer. */
    glCopyNamedBufferSubData(wgl_buffer(bytes, BYTES), gr_gl_name(resource), 0, 0, BYTES);
    return exchange(resource, gr_gl_name(resource), bytes);
}

/* ---- Textures -------------------------------------------------------------------------------- */

enum { SIDE = 8, TEXELS = 4 * SIDE * SIDE };

static CUresult copy_texels(CUarray array, unsigned char *host, bool back)
{
    CUDA_MEMCPY2D copy = {.WidthInBytes = (size_t)4 * SIDE, .Height = SIDE};
    copy.srcMemoryType = back ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = back ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    copy.srcArray = copy.dstArray = array;
    copy.srcHost = copy.dstHost = host;
    return gr_cuda()->Memcpy2D(&copy);
}

static const char *check_mapped_image(gr_buffer *buffer, unsigned char *before,
                                      unsigned char *after)
{
    unsigned char now[TEXELS];
    const gr_image_info *info = gr_buffer_get_image_info(buffer);
    REQUIRE(info && info->width == SIDE && info->height == SIDE && info->channels == 4);
    CUarray array = gr_buffer_array(buffer, 0, 0);
    REQUIRE(array && copy_texels(array, now, true) == CUDA_SUCCESS);
    REQUIRE(memcmp(now, before, TEXELS) == 0);
    REQUIRE(copy_texels(array, after, false) == CUDA_SUCCESS);
    return NULL;
}

static const char *texels_of(const gr_gl_options *options)
{
    unsigned char before[TEXELS], after[TEXELS], now[TEXELS];
    GLuint name = wgl_texture(SIDE);
    fill(before, TEXELS, 11);
    fill(after, TEXELS, 200);
    wgl_texels_set(name, SIDE, before);
    gr_resource *resource =
        gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE, options);
    REQUIRE(resource);
    gr_buffer *buffer = gr_map(resource, STREAM);
    REQUIRE(buffer);
    PASS_ON(check_mapped_image(buffer, before, after));
    REQUIRE(gr_buffer_release(buffer) == GR_OK);
    gr_resource_free(resource);
    wgl_texels_get(name, SIDE, now);
    REQUIRE(memcmp(now, after, TEXELS) == 0);
    return NULL;
}

static const char *an_image_passes_texels_both_ways(void)
{
    PASS_ON(texels_of(NULL));
    REQUIRE(follower->nth(0)->flags == CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    CALLS_ARE(REGISTER_IMAGE, MAP, ARRAY, ARRAY, UNMAP, UNREGISTER);
    return NULL;
}

static const char *copies_pass_texels_both_ways(void)
{
    const gr_gl_options copies = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY);
    PASS_ON(texels_of(&copies));
    REQUIRE(!follower->nth(0));
    return NULL;
}

/* The screen must show each texel as a rectangle. A window appears some time after it is shown. */
static const char *screen_has(const unsigned char *texels, int width, int height)
{
    for (int at = 0; at < SIDE * SIDE; at++) {
        const unsigned char *texel = &texels[(size_t)4 * (size_t)at];
        unsigned drawn = (unsigned)texel[0] << 16 | (unsigned)texel[1] << 8 | texel[2];
        int x = (2 * (at % SIDE) + 1) * width / (2 * SIDE);
        int y = height - 1 - (2 * (at / SIDE) + 1) * height / (2 * SIDE);
        unsigned shown = own_wgl_color(&own, x, y);
        if (shown != drawn)
            FAIL("the screen has 0x%06x instead of 0x%06x at %d, %d", shown, drawn, x, y);
    }
    return NULL;
}

static const char *show(GLuint name, const unsigned char *texels)
{
    const char *wrong;
    GLuint framebuffer = 0;
    int width, height, tries = 100;
    own_wgl_show(&own, &width, &height);
    glCreateFramebuffers(1, &framebuffer);
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, name, 0);
    do {
        glBlitNamedFramebuffer(framebuffer, 0, 0, 0, SIDE, SIDE, 0, 0, width, height,
                               GL_COLOR_BUFFER_BIT, GL_NEAREST);
        own_wgl_swap(&own);
        wrong = screen_has(texels, width, height);
    } while (wrong && --tries > 0);
    return wrong;
}

static const char *a_window_shows_what_cuda_wrote(void)
{
    unsigned char texels[TEXELS];
    GLuint name = wgl_texture(SIDE);
    fill(texels, TEXELS, 30);
    gr_resource *resource = gr_from_gl_image(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
    REQUIRE(resource);
    gr_buffer *buffer = gr_map(resource, STREAM);
    REQUIRE(buffer);
    REQUIRE(copy_texels(gr_buffer_array(buffer, 0, 0), texels, false) == CUDA_SUCCESS);
    REQUIRE(gr_buffer_release(buffer) == GR_OK);
    gr_resource_free(resource);
    return show(name, texels);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static const char *a_refused_registration_is_reported(void)
{
    GLuint name = wgl_buffer(NULL, BYTES);
    follower->answer(REGISTER_BUFFER, CUDA_ERROR_OPERATING_SYSTEM);
    REQUIRE(!gr_from_gl_buffer(name, GR_READ_WRITE));
    REQUIRE(gr_last_error()->code == CUDA_ERROR_OPERATING_SYSTEM);
    /*
     * Wine uses the OpenGL of the host, which renders on the CPU or on the GPU of another vendor.
     */
    PASS_ON(wgl_refused(GR_ERR_CUDA, "GR_TRANSPORT_COPY"));
    CALLS_ARE(REGISTER_BUFFER);
    return NULL;
}

static const char *a_refused_registration_is_replaced_by_a_copy(void)
{
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    char text[600];
    follower->answer(REGISTER_BUFFER, CUDA_ERROR_OPERATING_SYSTEM);
    gr_resource *resource = gr_from_gl_buffer_with(wgl_buffer(NULL, BYTES), GR_READ_WRITE, &any);
    REQUIRE(resource);
    gr_resource_describe(resource, text, sizeof(text));
    gr_resource_free(resource);
    if (!strstr(text, "copy") || !strstr(text, "CUDA_ERROR_OPERATING_SYSTEM"))
        FAIL("it is: %s", text);
    return NULL;
}

static const char *a_refused_map_is_reported(void)
{
    gr_resource *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    REQUIRE(resource);
    follower->answer(MAP, CUDA_ERROR_UNKNOWN);
    REQUIRE(!gr_map(resource, STREAM) && !gr_resource_get_info(resource)->mapped);
    PASS_ON(wgl_refused(GR_ERR_CUDA, "could not be mapped"));
    gr_resource_free(resource);
    CALLS_ARE(REGISTER_BUFFER, MAP, UNREGISTER);
    return NULL;
}

/* If the second driver call of a map fails, the resources that were mapped are unmapped again. */
static const char *a_refused_pointer_undoes_the_map(void)
{
    gr_resource *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    REQUIRE(resource);
    follower->answer(POINTER, CUDA_ERROR_UNKNOWN);
    REQUIRE(!gr_map(resource, STREAM) && follower->mapped() == 0);
    PASS_ON(wgl_refused(GR_ERR_CUDA, "has been unmapped again"));
    gr_resource_free(resource);
    CALLS_ARE(REGISTER_BUFFER, MAP, POINTER, UNMAP, UNREGISTER);
    return NULL;
}

static const char *invalid_names_are_refused(void)
{
    GLuint deleted = wgl_buffer(NULL, BYTES), empty = 0;
    glDeleteBuffers(1, &deleted);
    glCreateBuffers(1, &empty);
    REQUIRE(!gr_from_gl_buffer(0, GR_READ_WRITE));
    PASS_ON(wgl_refused(GR_ERR_INVALID_VALUE, "is not a buffer"));
    REQUIRE(!gr_from_gl_buffer(deleted, GR_READ_WRITE));
    PASS_ON(wgl_refused(GR_ERR_INVALID_VALUE, "There is no OpenGL buffer"));
    REQUIRE(!gr_from_gl_buffer(empty, GR_READ_WRITE));
    PASS_ON(wgl_refused(GR_ERR_INVALID_VALUE, "has no storage"));
    REQUIRE(!follower->nth(0));
    return NULL;
}

static const char *map_after_the_buffer_was_deleted_is_refused(void)
{
    GLuint name = wgl_buffer(NULL, BYTES);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    REQUIRE(resource);
    glDeleteBuffers(1, &name);
    REQUIRE(!gr_map(resource, STREAM));
    PASS_ON(wgl_refused(GR_ERR_STATE, "has been deleted"));
    gr_resource_free(resource);
    CALLS_ARE(REGISTER_BUFFER, UNREGISTER);
    return NULL;
}

/* Sharing storage needs file descriptors, which Windows does not have. */
static const char *shared_storage_is_refused(void)
{
    const gr_gl_options shared = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    REQUIRE(!gr_create_gl_buffer(BYTES, GR_READ_WRITE, &shared));
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, "which Windows does not have"));
    REQUIRE(!gr_create_gl_image(&desc, GR_READ_WRITE, &shared));
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, "GR_TRANSPORT_INTEROP"));
    const gr_transport_info *info = gr_gl_probe(GR_TRANSPORT_SHARED);
    REQUIRE(info && !info->usable && strstr(info->reason, "which Windows does not have"));
    REQUIRE(!follower->nth(0));
    return NULL;
}

static const char *conversions_are_refused(void)
{
    static float values[TEXELS];
    const int64_t shape[] = {SIDE, SIDE, 4};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3,
                                        .shape = shape, .memory = GR_MEMORY_DEVICE);
    GR_AUTO(gr_tensor) *tensor = gr_tensor_from_memory(&desc, values, GR_STREAM_NONE, NULL, NULL);
    GR_AUTO(gr_resource) *resource =
        gr_from_gl_image(wgl_texture(SIDE), GL_TEXTURE_2D, GR_WRITE_DISCARD);
    REQUIRE(tensor && resource);
    REQUIRE(gr_publish(resource, tensor, NULL, STREAM) == GR_ERR_UNSUPPORTED);
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, "which grinterop does not have on Windows. A tensor"));
    return NULL;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static gr_ring *make_ring(void)
{
    gr_resource *slots[2];
    for (size_t i = 0; i < 2; i++)
        slots[i] = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_WRITE_DISCARD);
    gr_ring *ring = gr_ring_create(slots, 2, NULL);
    for (size_t i = 0; i < 2; i++)
        gr_resource_free(slots[i]);
    return ring;
}

static const char *a_ring_passes_frames_within_the_process(void)
{
    unsigned char bytes[BYTES];
    const gr_slot *slot;
    GR_AUTO(gr_ring) *ring = make_ring();
    REQUIRE(ring);
    for (unsigned frame = 1; frame <= 3; frame++) {
        fill(bytes, BYTES, frame);
        REQUIRE(gr_ring_acquire_write(ring, STREAM, &slot, 1, 0) == GR_OK);
        CUdeviceptr at = gr_buffer_ptr(slot->buffer);
        REQUIRE(gr_cuda()->MemcpyHtoDAsync(at, bytes, BYTES, STREAM) == CUDA_SUCCESS);
        REQUIRE(gr_ring_hand_over(ring, &slot, 1) == GR_OK);
        REQUIRE(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0) == GR_OK);
        REQUIRE(slot->frame == frame);
        PASS_ON(wgl_buffer_has(gr_gl_name(slot->resource), bytes, BYTES));
        REQUIRE(gr_ring_give_back(ring, &slot, 1) == GR_OK);
    }
    return NULL;
}

static const char *sharing_with_another_process_is_refused(void)
{
    static const char sockets[] = "Unix sockets, which Windows does not have";
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    GR_AUTO(gr_ring) *ring = make_ring();
    REQUIRE(resource && ring);
    REQUIRE(gr_resource_send(3, resource, NULL, 0, 0) == GR_ERR_UNSUPPORTED);
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, sockets));
    REQUIRE(!gr_resource_receive(3, NULL, 0, NULL, 0));
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, sockets));
    REQUIRE(gr_ring_send(3, ring, GR_RING_CONSUMER, NULL, 0, 0) == GR_ERR_UNSUPPORTED);
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, sockets));
    REQUIRE(!gr_ring_receive(3, NULL, 0, NULL, 0));
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, sockets));
    REQUIRE(gr_ring_descriptor(ring, GR_RING_CONSUMER) == -1);
    PASS_ON(wgl_refused(GR_ERR_UNSUPPORTED, "use an acquire with a timeout"));
    return NULL;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static const char *probe_reports_interop_and_copy_as_usable(void)
{
    const gr_transport_info *info = gr_gl_probe(GR_TRANSPORT_INTEROP);
    REQUIRE(info && info->usable && strstr(info->reason, "CUDA can register OpenGL buffers"));
    CALLS_ARE(REGISTER_BUFFER, UNREGISTER);
    info = gr_gl_probe(GR_TRANSPORT_COPY);
    REQUIRE(info && info->usable);
    return NULL;
}

static const char *gr_gl_cuda_device_returns_the_drawing_device(void)
{
    int device = 7;
    REQUIRE(gr_gl_cuda_device(&device) == GR_OK && device == 0);
    follower->answer("cuGLGetDevices", CUDA_ERROR_NO_DEVICE);
    REQUIRE(gr_gl_cuda_device(&device) == GR_ERR_CUDA);
    return wgl_refused(GR_ERR_CUDA, "draws on no device that CUDA lists");
}

void wgl_calls(void)
{
    static const struct {
        const char *name;
        const char *(*run)(void);
    } cases[] = {
        {"a_buffer_is_registered_mapped_and_closed", a_buffer_is_registered_mapped_and_closed},
        {"the_flags_reach_the_driver", the_flags_reach_the_driver},
        {"map_many_needs_one_driver_call", map_many_needs_one_driver_call},
        {"release_after_map_gl_buffer_ends_the_registration",
         release_after_map_gl_buffer_ends_the_registration},
        {"interop_passes_bytes_both_ways", interop_passes_bytes_both_ways},
        {"copies_pass_bytes_both_ways", copies_pass_bytes_both_ways},
        {"a_created_buffer_passes_bytes_both_ways", a_created_buffer_passes_bytes_both_ways},
        {"an_image_passes_texels_both_ways", an_image_passes_texels_both_ways},
        {"copies_pass_texels_both_ways", copies_pass_texels_both_ways},
        {"a_window_shows_what_cuda_wrote", a_window_shows_what_cuda_wrote},
        {"a_refused_registration_is_reported", a_refused_registration_is_reported},
        {"a_refused_registration_is_replaced_by_a_copy",
         a_refused_registration_is_replaced_by_a_copy},
        {"a_refused_map_is_reported", a_refused_map_is_reported},
        {"a_refused_pointer_undoes_the_map", a_refused_pointer_undoes_the_map},
        {"invalid_names_are_refused", invalid_names_are_refused},
        {"map_after_the_buffer_was_deleted_is_refused",
         map_after_the_buffer_was_deleted_is_refused},
        {"shared_storage_is_refused", shared_storage_is_refused},
        {"conversions_are_refused", conversions_are_refused},
        {"a_ring_passes_frames_within_the_process", a_ring_passes_frames_within_the_process},
        {"sharing_with_another_process_is_refused", sharing_with_another_process_is_refused},
        {"probe_reports_interop_and_copy_as_usable", probe_reports_interop_and_copy_as_usable},
        {"gr_gl_cuda_device_returns_the_drawing_device",
         gr_gl_cuda_device_returns_the_drawing_device},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        wgl_case("calls", cases[i].name, cases[i].run);
}
