/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Failed work of CUDA with frames in flight: OpenGL goes on, and the error names the cause. */
#define _GNU_SOURCE
#include "gl_in_flight.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/child_check.h"

#define SIZE ((size_t)4096)

/* ---- Refused calls, after which the CUDA context is usable ----------------------------------- */

GROUP("refused work with frames in flight", EVERY_FLIGHT)

/* The program releases a mapping whose kernel CUDA has refused to launch. */
FLIGHT_TEST(a_refused_launch_loses_its_frame_alone)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *writer = must_fly(name, GR_WRITE_DISCARD, 2);
    for (unsigned frame = 2; frame < 9; frame++) {
        gr_buffer *buffer = must_map(writer);
        if (frame % 3)
            cuda_write_pattern(buffer, frame);
        assert_ok(gr_buffer_release(buffer));
        if (frame % 3)
            assert_gl_pattern(name, SIZE, frame);
    }
}

/* ---- A failed kernel, after which the CUDA context is unusable ------------------------------- */

GROUP("frames in flight after a kernel that failed", add_flight_case)

/* A GPU takes about 0.3 s to report the failure. */
static void wait_for_failure(void)
{
    while (fx.cu->StreamQuery(fx.stream) == CUDA_ERROR_NOT_READY)
        usleep(1000);
}

/* OpenGL has executed everything, and draws on. */
static void assert_opengl_works(GLuint name)
{
    static unsigned char read[SIZE];
    const GLuint other = gl_buffer_pattern(SIZE, 7);
    assert_gl_pattern(other, SIZE, 7);
    glGetNamedBufferSubData(name, 0, SIZE, read);
    glFinish();
    child_check(glGetError() == GL_NO_ERROR);
}

static gr_resource *fly_in_child(GLuint *name, unsigned flags)
{
    leaves_all_open = true; /* CUDA drops the host functions, which leaks their arguments */
    fixture_setup();
    watch_gl();
    child_check(!kernels_load());
    *name = gl_buffer_pattern(SIZE, 1);
    return must_fly(*name, flags, 4);
}

static void end_child(gr_resource *resource, GLuint name)
{
    gr_resource_free(resource);
    assert_opengl_works(name);
    unwatch_gl();
}

/*
 * Frames are in flight, and the kernel of one fails after its release has begun. Where the host
 * waits, the release reports it.
 */
static void fail_one(gr_resource *resource)
{
    for (unsigned frame = 2; frame < 5; frame++)
        write_mapped(resource, frame);
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), 100);
    kernel_fail(fx.stream);
    if (gr_buffer_release(buffer) == GR_OK)
        return;
    child_check(gr_last_error()->status == GR_ERR_PARTIAL); /* the mapping has ended */
    child_check(strstr(error_text(), "compute-sanitizer"));
}

static int map_after_failure(unsigned flags)
{
    GLuint name;
    gr_resource *resource = fly_in_child(&name, GR_WRITE_DISCARD);
    gr_resource *mapped = flags == GR_READ_ONLY ? must_fly(name, flags, 2) : resource;
    fail_one(resource);
    wait_for_failure();
    child_check(!gr_map(mapped, fx.stream));
    child_check(gr_last_error()->status == GR_ERR_DEVICE_LOST);
    child_check(strstr(error_text(), "compute-sanitizer"));
    assert_opengl_works(name);
    if (mapped != resource)
        gr_resource_free(mapped);
    end_child(resource, name);
    return 0;
}

static int release_after_failure(void)
{
    GLuint name;
    gr_resource *resource = fly_in_child(&name, GR_WRITE_DISCARD);
    write_mapped(resource, 2);
    gr_buffer *buffer = must_map(resource);
    kernel_fail(fx.stream);
    wait_for_failure();
    child_check(gr_buffer_release(buffer) != GR_OK);
    child_check(gr_last_error()->status == GR_ERR_DEVICE_LOST);
    assert_opengl_works(name);
    gr_buffer_release_later(buffer);
    end_child(resource, name);
    return 0;
}

/*
 * If the resource is closed before the failure is known, NVIDIA's OpenGL does not draw again,
 * although its semaphore is signalled: docs/driver.md.
 */
static int end_after_failure(bool closes)
{
    GLuint name;
    gr_resource *resource = fly_in_child(&name, GR_WRITE_DISCARD);
    fail_one(resource);
    if (closes)
        (void)gr_resource_close(resource, fx.stream);
    wait_for_failure();
    gr_resource_free(resource);
    if (!closes || gr_cuda_is_software())
        assert_opengl_works(name);
    unwatch_gl();
    return 0;
}

static const char *failing_flight_missing(void)
{
    return flight_missing() ? flight_missing() : failing_kernels_missing();
}

CHILD_TEST_UNLESS(failing_flight_missing(), opengl_goes_on_after_a_failed_kernel, 5)
{
    return _i < 2    ? map_after_failure(_i ? GR_READ_ONLY : GR_WRITE_DISCARD)
           : _i == 2 ? release_after_failure()
                     : end_after_failure(_i == 4);
}
