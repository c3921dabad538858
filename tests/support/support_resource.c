/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The steps that most cases begin with, and checks of resources that are not mapped or are closed.
 */
#define _GNU_SOURCE
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/submit.h>

#define BY(set)                                                                                    \
    {                                                                                              \
        .struct_size = sizeof(gr_gl_options), .transports = (set)                                  \
    }

const gr_gl_options by_interop = BY(GR_TRANSPORT_INTEROP), by_copy = BY(GR_TRANSPORT_COPY),
                    by_sharing = BY(GR_TRANSPORT_SHARED), by_any = BY(GR_TRANSPORT_ANY);

gr_resource *must_register_as(GLuint name, unsigned flags)
{
    return must_make(gr_from_gl_buffer(name, flags));
}

gr_resource *must_register(GLuint name)
{
    return must_register_as(name, GR_READ_WRITE);
}

static size_t buffer_size;
static int buffer_value;

void resource_case_buffer(size_t size, int value)
{
    buffer_size = size;
    buffer_value = value;
}

static void make_resource(void)
{
    fx.name = gl_buffer_filled(buffer_size, buffer_value);
    fx.resource = must_register(fx.name);
}

static void end_resource(void)
{
    gr_resource_free(fx.resource);
}

TCase *add_resource_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), make_resource, end_resource);
}

gr_resource *unordered(gr_resource *resource)
{
    assert_made(resource);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    return resource;
}

gr_buffer *must_map_on(gr_resource *resource, CUstream stream)
{
    gr_buffer *buffer = must_make(gr_map(resource, stream));
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    return buffer;
}

gr_buffer *must_map(gr_resource *resource)
{
    return must_map_on(resource, fx.stream);
}

void cuda_fill(const gr_buffer *buffer, int value)
{
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, gr_buffer_size(buffer),
                     gr_buffer_get_info(buffer)->stream));
}

void cuda_read(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    CU(MemcpyDtoHAsync(to, from, size, stream));
    CU(StreamSynchronize(stream));
}

void fill_and_release(gr_buffer *buffer, int value)
{
    cuda_fill(buffer, value);
    assert_ok(gr_buffer_release(buffer));
}

void fill_mapped(gr_resource *resource, int value)
{
    fill_and_release(must_map(resource), value);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

void cuda_write_pattern(const gr_buffer *buffer, unsigned seed)
{
    size_t size = gr_buffer_size(buffer);
    void *bytes = must_allocate(size);
    pattern_fill(bytes, size, seed);
    CU(StreamSynchronize(gr_buffer_get_info(buffer)->stream));
    CU(MemcpyHtoD(gr_buffer_ptr(buffer), bytes, size));
    /* Without this wait the copy may still be in progress. */
    CU(StreamSynchronize(CU_STREAM_LEGACY));
    free(bytes);
}

static void *cuda_bytes(const gr_buffer *buffer)
{
    size_t size = gr_buffer_size(buffer);
    void *bytes = must_allocate(size);
    memset(bytes, 0xEE, size);
    CU(StreamSynchronize(gr_buffer_get_info(buffer)->stream));
    CU(MemcpyDtoH(bytes, gr_buffer_ptr(buffer), size));
    return bytes;
}

const char *cuda_pattern_differs(const gr_buffer *buffer, unsigned seed)
{
    return pattern_differs_once(cuda_bytes(buffer), gr_buffer_size(buffer), seed);
}

const char *cuda_bytes_differ(const gr_buffer *buffer, int value)
{
    return bytes_differ_once(cuda_bytes(buffer), gr_buffer_size(buffer), value);
}

void write_mapped(gr_resource *resource, unsigned seed)
{
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, seed);
    assert_ok(gr_buffer_release(buffer));
}

void assert_mapped(gr_resource *resource, unsigned seed)
{
    gr_buffer *buffer = must_map(resource);
    assert_cuda_pattern(buffer, seed);
    assert_ok(gr_buffer_release(buffer));
}

void free_resources(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        gr_resource_free(resources[i]);
}

/* ---- Another thread -------------------------------------------------------------------------- */

void *elsewhere(void *(*body)(void *), void *object)
{
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, body, object), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    return result;
}

void *free_elsewhere(void *resource)
{
    gr_resource_free(resource);
    return NULL;
}

void *release_elsewhere(void *buffer)
{
    gr_buffer_release_later(buffer);
    return NULL;
}

#define MEETINGS 200

struct meeting {
    pthread_barrier_t barrier;
    void (*there)(void); /* runs on the other thread */
};

static void *do_there(void *user)
{
    struct meeting *meeting = user;
    for (int i = 0; i < MEETINGS; i++) {
        pthread_barrier_wait(&meeting->barrier);
        meeting->there();
        pthread_barrier_wait(&meeting->barrier);
    }
    return NULL;
}

void meet(void (*begin)(void), void (*here)(void), void (*there)(void))
{
    pthread_t thread;
    struct meeting meeting = {.there = there};
    ck_assert_int_eq(pthread_barrier_init(&meeting.barrier, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, do_there, &meeting), 0);
    for (int i = 0; i < MEETINGS; i++) {
        begin();
        pthread_barrier_wait(&meeting.barrier);
        here();
        pthread_barrier_wait(&meeting.barrier);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting.barrier);
}

const char *description_lacks(const gr_resource *resource, const char *const texts[])
{
    static char wrong[1400];
    char text[1024];
    gr_resource_describe(resource, text, sizeof(text));
    for (; *texts; texts++)
        if (!strstr(text, *texts)) {
            snprintf(wrong, sizeof(wrong), "\"%s\" is not in: %s", *texts, text);
            return wrong;
        }
    return NULL;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

void assert_not_mapped(const gr_resource *resource)
{
    ck_assert(!gr_resource_get_info(resource)->mapped);
    ck_assert(!gr_resource_get_info(resource)->closed);
    CUdeviceptr pointer;
    size_t size;
    CU_GIVES(CUDA_ERROR_NOT_MAPPED,
             GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(resource)));
}

void *driver_handle(const gr_resource *resource)
{
    if (!resource || gr_resource_get_info(resource)->closed)
        return NULL;
    return gr_resource_get_info(resource)->transport == GR_TRANSPORT_INTEROP
               ? (void *)gr_resource_get_info(resource)->graphics
               : (void *)gr_resource_get_info(resource)->external_memory;
}

/* Skipped on a GPU: NVIDIA's driver would read freed memory through the handle and crash. */
void assert_unregistered(void *handle)
{
    CUdeviceptr pointer;
    size_t size;
    if (gr_cuda_is_software())
        CU_GIVES(CUDA_ERROR_INVALID_HANDLE,
                 GraphicsResourceGetMappedPointer(&pointer, &size, handle));
}
