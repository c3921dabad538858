/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * See gl_shared_pretend.h. Some functions here have the names of public functions of grinterop, so
 * that grinterop calls them instead of its own. The functions of epoxy are replaced through
 * pointers. A signal becomes visible only at the next flush, so that a missing flush shows: CUDA
 * then waits forever.
 */
#define _GNU_SOURCE
#include "gl_shared_pretend.h"
#include "tests/support/next.h"
#include "tests/support/soft_semaphores.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <check.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/vk.h>

#define MOST                        4096
#define TIMELINE_SEMAPHORE_VALUE_NV 0x9595
#define SEMAPHORE_TYPE_NV           0x95B3
#define SEMAPHORE_TYPE_TIMELINE_NV  0x95B5
#define TOO_LATE_MS                 20000

struct pretend_counts pretend_counts;

static bool possible, on;

/* ---- Vulkan ---------------------------------------------------------------------------------- */

/*
 * The semaphores that were created, with the descriptors for exports; only those of the last pair
 * are open. A VkSemaphore is an index into this list, counted from 1.
 */
static struct made {
    gr_semaphore *semaphore;
    int fd;
} made[MOST];
static size_t made_count;

static void close_made(size_t i)
{
    if (made[i].fd >= 0)
        close(made[i].fd);
    made[i].fd = -1;
}

gr_semaphore *gr_semaphore_create_vk(gr_vk_device *device, VkSemaphoreType type)
{
    NEXT(gr_semaphore_create_vk);
    if (!on)
        return next(device, type);
    bool timeline = type == VK_SEMAPHORE_TYPE_TIMELINE;
    gr_semaphore_desc info =
        GR_INIT(gr_semaphore_desc,
                .type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                                 : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD);
    ck_assert_uint_lt(made_count, MOST);
    ck_assert_int_eq(soft.create(timeline, 0, &info.fd), CUDA_SUCCESS);
    if (made_count >= 2)
        close_made(made_count - 2);
    made[made_count].fd = dup(info.fd);
    made[made_count].semaphore = gr_semaphore_from_handle(&info);
    ck_assert_ptr_nonnull(made[made_count].semaphore);
    return made[made_count++].semaphore;
}

/* Searches from the end, since an address may be reused. */
VkSemaphore gr_vk_semaphore(const gr_semaphore *semaphore)
{
    NEXT(gr_vk_semaphore);
    for (size_t i = made_count; i > 0; i--)
        if (made[i - 1].semaphore == semaphore)
            return (VkSemaphore)(uintptr_t)i;
    return next(semaphore);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_semaphore_fd(VkDevice device,
                                                       const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    (void)device;
    *fd = dup(made[(size_t)(uintptr_t)info->semaphore - 1].fd);
    return *fd >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
}

static void close_rest(void)
{
    for (size_t i = 0; i < made_count; i++)
        close_made(i);
}

static PFN_vkGetInstanceProcAddr instance_function;
static PFN_vkGetDeviceProcAddr device_function;

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device,
                                                                    const char *name)
{
    if (strcmp(name, "vkGetSemaphoreFdKHR") == 0)
        return (PFN_vkVoidFunction)get_semaphore_fd;
    return device_function(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance,
                                                                      const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return instance_function(instance, name);
    device_function = (PFN_vkGetDeviceProcAddr)instance_function(instance, name);
    return (PFN_vkVoidFunction)get_device_function;
}

const gr_vk_headless_info *gr_vk_headless_get_info(const gr_vk_headless *headless)
{
    NEXT(gr_vk_headless_get_info);
    static gr_vk_headless_info handles;
    const gr_vk_headless_info *real = next(headless);
    if (!possible)
        return real;
    instance_function = real->get_instance_proc_addr;
    handles = *real;
    handles.get_instance_proc_addr = get_instance_function;
    return &handles;
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* Indexed by OpenGL name, counted from 1. */
static struct played {
    gr_softcuda_semaphore *semaphore;
    /* signalled: OpenGL has signalled it, but has not been flushed since */
    bool timeline, signalled;
    uint64_t value;
} played[MOST];
static GLuint played_count;
static void(EPOXY_CALLSPEC *real_flush)(void);
static void(EPOXY_CALLSPEC *real_finish)(void);
/* not counted as calls of the library */
static GLboolean(EPOXY_CALLSPEC *real_is_buffer)(GLuint name);
static GLboolean(EPOXY_CALLSPEC *real_is_texture)(GLuint name);

static void EPOXY_CALLSPEC make_names(GLsizei n, GLuint *names)
{
    for (GLsizei i = 0; i < n; i++) {
        ck_assert_uint_lt(played_count + 1, MOST);
        names[i] = ++played_count;
        pretend_counts.alive++;
    }
}

static void EPOXY_CALLSPEC set_type(GLuint name, GLenum parameter, const GLint *value)
{
    ck_assert_uint_eq(parameter, SEMAPHORE_TYPE_NV);
    ck_assert_int_eq(*value, SEMAPHORE_TYPE_TIMELINE_NV);
    ck_assert_ptr_null(played[name].semaphore); /* the type is set before the import */
    played[name].timeline = true;
}

static void EPOXY_CALLSPEC set_value(GLuint name, GLenum parameter, const GLuint64 *value)
{
    ck_assert(played[name].timeline);
    ck_assert_uint_eq(parameter, TIMELINE_SEMAPHORE_VALUE_NV);
    played[name].value = *value;
}

static unsigned taken_first, refused_then;

static bool is_refused(void)
{
    if (taken_first == 0)
        return refused_then > 0 && refused_then-- > 0;
    taken_first--;
    return false;
}

/* After a refused import the descriptor stays open, and OpenGL has an error. */
static void EPOXY_CALLSPEC import_fd(GLuint name, GLenum type, GLint fd)
{
    if (is_refused()) {
        glEnable(GL_NONE);
        return;
    }
    ck_assert_uint_eq(type, GL_HANDLE_TYPE_OPAQUE_FD_EXT);
    ck_assert_int_eq(soft.open(fd, &played[name].semaphore), CUDA_SUCCESS);
    close(fd);
}

static void EPOXY_CALLSPEC delete_names(GLsizei n, const GLuint *names)
{
    for (GLsizei i = 0; i < n; i++) {
        soft.close(played[names[i]].semaphore);
        played[names[i]] = (struct played){0};
        pretend_counts.alive--;
    }
}

/* Also closes the semaphores whose context was destroyed, which nothing else deletes. */
static void forget_all(void)
{
    for (GLuint name = 1; name <= played_count; name++)
        soft.close(played[name].semaphore);
    memset(played, 0, sizeof(played));
    made_count = played_count = 0;
}

static void count_barriers(GLuint buffers, const GLuint *buffer_names, GLuint textures,
                           const GLuint *texture_names, const GLenum *layouts)
{
    for (GLuint i = 0; i < buffers; i++)
        ck_assert(real_is_buffer(buffer_names[i]));
    for (GLuint i = 0; i < textures; i++) {
        ck_assert(real_is_texture(texture_names[i]));
        ck_assert_uint_eq(layouts[i], GL_LAYOUT_GENERAL_EXT);
    }
    pretend_counts.buffers += buffers;
    pretend_counts.textures += textures;
}

static bool refuses_next; /* signal or wait, after which OpenGL has an error */

static bool is_use_refused(void)
{
    const bool refused = refuses_next;
    if (refused)
        glEnable(GL_NONE);
    refuses_next = false;
    return refused;
}

static void EPOXY_CALLSPEC signal_it(GLuint name, GLuint buffers, const GLuint *buffer_names,
                                     GLuint textures, const GLuint *texture_names,
                                     const GLenum *layouts)
{
    if (is_use_refused())
        return;
    count_barriers(buffers, buffer_names, textures, texture_names, layouts);
    ck_assert(!played[name].signalled);
    played[name].signalled = true;
    pretend_counts.signals++;
}

static void EPOXY_CALLSPEC flush(void)
{
    real_flush();
    for (GLuint name = 1; name <= played_count; name++) {
        if (!played[name].signalled)
            continue;
        played[name].signalled = false;
        real_finish();
        ck_assert_int_eq(soft.signal(played[name].semaphore, played[name].value), CUDA_SUCCESS);
    }
}

/* Blocks the thread. A real OpenGL blocks the commands that follow, which has the same effect. */
static void EPOXY_CALLSPEC wait_for(GLuint name, GLuint buffers, const GLuint *buffer_names,
                                    GLuint textures, const GLuint *texture_names,
                                    const GLenum *layouts)
{
    if (is_use_refused())
        return;
    count_barriers(buffers, buffer_names, textures, texture_names, layouts);
    ck_assert_int_eq(soft.wait(played[name].semaphore, played[name].value, TOO_LATE_MS),
                     CUDA_SUCCESS);
    pretend_counts.waits++;
}

static __eglMustCastToProperFunctionPointerType(EPOXY_CALLSPEC *real_address)(const char *name);

static __eglMustCastToProperFunctionPointerType EPOXY_CALLSPEC get_address(const char *name)
{
    if (on && strcmp(name, "glCreateSemaphoresNV") == 0)
        return (__eglMustCastToProperFunctionPointerType)make_names;
    if (on && strcmp(name, "glSemaphoreParameterivNV") == 0)
        return (__eglMustCastToProperFunctionPointerType)set_type;
    return real_address(name);
}

bool pretend_has(const char *extension)
{
    return on && (strcmp(extension, "GL_EXT_semaphore") == 0 ||
                  strcmp(extension, "GL_EXT_semaphore_fd") == 0 ||
                  strcmp(extension, "GL_NV_timeline_semaphore") == 0);
}

/* ---- Switching the simulation ---------------------------------------------------------------- */

bool pretend_start(void)
{
    possible = soft_semaphores_load();
    if (!possible)
        return false;
    real_address = epoxy_eglGetProcAddress;
    epoxy_eglGetProcAddress = get_address;
    epoxy_glGenSemaphoresEXT = make_names;
    epoxy_glDeleteSemaphoresEXT = delete_names;
    epoxy_glImportSemaphoreFdEXT = import_fd;
    epoxy_glSemaphoreParameterui64vEXT = set_value;
    epoxy_glSignalSemaphoreEXT = signal_it;
    epoxy_glWaitSemaphoreEXT = wait_for;
    return true;
}

bool pretend_refusals(unsigned taken, unsigned refused)
{
    taken_first = taken;
    refused_then = refused;
    return on;
}

bool pretend_refused_use(void)
{
    return refuses_next = on;
}

void pretend_semaphores(bool begin)
{
    taken_first = refused_then = 0;
    close_rest();
    on = begin && possible;
    if (!on)
        return;
    if (!real_flush) {
        glFlush(); /* epoxy resolves functions at their first call */
        glFinish();
        glIsBuffer(0);
        glIsTexture(0);
        real_is_buffer = epoxy_glIsBuffer;
        real_is_texture = epoxy_glIsTexture;
        real_flush = epoxy_glFlush;
        real_finish = epoxy_glFinish;
        epoxy_glFlush = flush;
    }
    if (pretend_counts.alive == 0)
        forget_all();
    pretend_counts = (struct pretend_counts){.alive = pretend_counts.alive};
}
