/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates and destroys the lives of test_death. */
#define _GNU_SOURCE
#include "death.h"
#include "tests/support/shader_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const gr_cuda_api *cu;

void death_driver_load(void)
{
    child_check(gr_cuda_load(true) == GR_OK);
    cu = gr_cuda();
}

bool death_is_on_a_gpu(void)
{
    const char *driver = getenv("GR_CUDA_DRIVER");
    return driver && strcmp(driver, "soft") != 0;
}

void number_set(const char *variable, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    setenv(variable, text, 1);
}

int number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

const struct kind kinds[KINDS] = {
    {"interop", GR_TRANSPORT_INTEROP, "GCRB", false, false},
    {"copy", GR_TRANSPORT_COPY, "GCRB", false, false},
    {"shared", GR_TRANSPORT_SHARED, "GCRB", false, false},
    {"vulkan", GR_TRANSPORT_EXTERNAL, "GCRB", false, false},
    {"interop, a thread first", GR_TRANSPORT_INTEROP, "GCRB", true, false},
    {"copy, a thread first", GR_TRANSPORT_COPY, "GCRB", true, false},
    {"shared, a thread first", GR_TRANSPORT_SHARED, "GCRB", true, false},
    {"vulkan, a thread first", GR_TRANSPORT_EXTERNAL, "GCRB", true, false},
    {"interop, primary context", GR_TRANSPORT_INTEROP, "GCRB", false, true},
    {"copy, primary context", GR_TRANSPORT_COPY, "GCRB", false, true},
    {"shared, primary context", GR_TRANSPORT_SHARED, "GCRB", false, true},
    {"vulkan, primary context", GR_TRANSPORT_EXTERNAL, "GCRB", false, true},
    {"ring by interop", GR_TRANSPORT_INTEROP, "GCRN", false, false},
    {"ring by copy", GR_TRANSPORT_COPY, "GCRN", false, false},
    {"ring by sharing", GR_TRANSPORT_SHARED, "GCRN", false, false},
    {"Vulkan ring", GR_TRANSPORT_EXTERNAL, "GCRN", false, false},
    {"frames in flight", GR_TRANSPORT_PEER, "GCRB", false, false},
    {"frames in flight, a thread first", GR_TRANSPORT_PEER, "GCRB", true, false},
    {"frames in flight, primary context reset", GR_TRANSPORT_PEER, "GCRB", false, true},
};

static bool is_ring(const struct life *life)
{
    return strchr(life->kind->deaths, RING);
}

static bool is_vulkan(const struct life *life)
{
    return life->kind->transport == GR_TRANSPORT_EXTERNAL;
}

static bool has_frames_in_flight(const struct life *life)
{
    return life->kind->transport == GR_TRANSPORT_PEER;
}

static void open_vulkan(struct life *life)
{
    life->headless = gr_vk_headless_create(NULL);
    if (!life->headless) {
        life->missing = error_text();
        return;
    }
    child_check(life->device = gr_vk_device_from_headless(life->headless, 0));
}

static gr_resource *make_resource(struct life *life)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = life->kind->transport,
                                          .in_flight = has_frames_in_flight(life) ? 4 : 0);
    const unsigned flags = has_frames_in_flight(life) ? GR_WRITE_DISCARD : GR_READ_WRITE;
    if (is_vulkan(life))
        return gr_create_vk_buffer(life->device, &info, GR_READ_WRITE);
    if (life->kind->transport == GR_TRANSPORT_SHARED)
        return gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options);
    return gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 1), flags, &options);
}

static void begin_ring(struct life *life)
{
    const gr_slot *slot = NULL;
    life->ring = gr_ring_create(life->resources, life->count, NULL);
    child_check(life->ring);
    child_check(gr_ring_acquire_write(life->ring, life->stream, &slot, 1, 0) == GR_OK);
    life->buffer = slot->buffer;
    child_check(cu->MemsetD8Async(gr_buffer_ptr(slot->buffer), 2, SIZE, life->stream) ==
                CUDA_SUCCESS);
}

static void begin_mapping(struct life *life)
{
    for (int i = 0; i < 3; i++) {
        life->buffer = gr_map(life->resources[0], life->stream);
        child_check(life->buffer);
        child_check(cu->MemsetD8Async(gr_buffer_ptr(life->buffer), 2, SIZE, life->stream) ==
                    CUDA_SUCCESS);
        child_check(i == 2 || gr_buffer_release(life->buffer) == GR_OK);
    }
}

static void open_cuda(struct life *life)
{
    if (life->kind->is_primary) {
        life->primary = gr_cuda_context_create(fixture_cuda_device());
        child_check(life->primary);
        life->cuda = life->primary->context;
        life->stream = life->primary->stream;
        return;
    }
    child_check(cu->CtxCreate(&life->cuda, 0, fixture_cuda_device()) == CUDA_SUCCESS);
    child_check(cu->StreamCreate(&life->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
}

static void begin(struct life *life)
{
    open_cuda(life);
    if (is_vulkan(life))
        open_vulkan(life);
    else
        child_check(life->egl = gr_egl_create(NULL));
    if (has_frames_in_flight(life))
        watch_gl(); /* so that a shader copies */
    for (; life->count < (is_ring(life) ? SLOTS : 1) && !life->missing; life->count++) {
        life->resources[life->count] = make_resource(life);
        if (!life->resources[life->count]) {
            life->missing = error_text();
            return;
        }
    }
    if (!life->missing)
        (is_ring(life) ? begin_ring : begin_mapping)(life);
}

/*
 * EGL keeps the context current on the thread, even after the thread has ended. No other thread can
 * use the context then.
 */
static void *begin_in_thread(void *life)
{
    begin(life);
    gr_egl_make_current(NULL);
    return NULL;
}

/* Objects are destroyed on this thread. Its contexts are current if they still exist. */
void life_begin(struct life *life)
{
    pthread_t thread;
    if (!life->kind->in_thread) {
        begin(life);
        return;
    }
    child_check(pthread_create(&thread, NULL, begin_in_thread, life) == 0);
    pthread_join(thread, NULL);
    child_check(cu->CtxSetCurrent(life->cuda) == CUDA_SUCCESS);
    if (life->egl)
        child_check(gr_egl_make_current(life->egl) == GR_OK);
}

/* ---- Ending ---------------------------------------------------------------------------------- */

void life_end_graphics(struct life *life)
{
    if (life->egl && !life->no_cuda)
        child_check(cu->StreamSynchronize(life->stream) == CUDA_SUCCESS);
    gr_egl_free(life->egl);
    gr_vk_device_free(life->device);
    gr_vk_headless_free(life->headless);
    life->no_graphics = true;
}

void life_end_cuda(struct life *life)
{
    if (life->primary && has_frames_in_flight(life))
        child_check(cu->DevicePrimaryCtxReset(fixture_cuda_device()) == CUDA_SUCCESS);
    gr_cuda_context_free(life->primary);
    child_check(life->primary || cu->CtxDestroy(life->cuda) == CUDA_SUCCESS);
    life->no_cuda = true;
}
