/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * See egl_pretend.h. The functions of epoxy are pointers that the library shares with the program,
 * so a case can replace them.
 */
#include "egl_pretend.h"

#include <stdio.h>
#include <string.h>

#include <epoxy/egl.h>

#include "tests/support/usable.h"

#define OPTIONS(...) (GR_INIT(gr_egl_options, __VA_ARGS__))

/* ---- The functions of EGL -------------------------------------------------------------------- */

/* The functions that a case may replace: the pointer of epoxy and the name of the function. */
#define REPLACED(x)                                                                                \
    x(eglQueryString) x(eglQueryDevicesEXT) x(eglQueryDeviceStringEXT) x(eglQueryDeviceAttribEXT)  \
        x(eglGetPlatformDisplayEXT) x(eglInitialize) x(eglBindAPI) x(eglChooseConfig)              \
            x(eglCreateContext) x(eglMakeCurrent) x(eglCreatePbufferSurface) x(eglDestroySurface)

#define MEMBER(name) __typeof__(epoxy_##name) name;
static struct {
    REPLACED(MEMBER)
} pointers, own;

/*
 * The pointer of epoxy may refer to a resolver. The resolver calls whatever function the pointer
 * refers to at that time. `own` therefore has the functions themselves.
 */
#define REMEMBER(name)                                                                             \
    pointers.name = epoxy_##name;                                                                  \
    own.name = (__typeof__(own.name))eglGetProcAddress(#name);

static void remember(void)
{
    REPLACED(REMEMBER)
}

#define PUT_BACK(name) epoxy_##name = pointers.name;

static void put_back(void)
{
    REPLACED(PUT_BACK)
}

/* ---- Simulated devices ----------------------------------------------------------------------- */

#define DEVICES 3

static const char *client_extensions; /* the EGL extensions that need no display */
static int ordinals[DEVICES];         /* the CUDA device that each EGL device reports, or -1 */

/* The displays that were requested: the number of a device, or 's' for the surfaceless platform. */
static char asked[16];
static size_t asked_count;

static const char *pretend_query_string(EGLDisplay display, EGLint name)
{
    return display == EGL_NO_DISPLAY && name == EGL_EXTENSIONS ? client_extensions
                                                               : own.eglQueryString(display, name);
}

static EGLBoolean pretend_query_devices(EGLint room, EGLDeviceEXT *devices, EGLint *count)
{
    ck_assert_int_ge(room, DEVICES);
    for (int i = 0; i < DEVICES; i++)
        devices[i] = &ordinals[i];
    *count = DEVICES;
    return EGL_TRUE;
}

static EGLBoolean no_devices(EGLint room, EGLDeviceEXT *devices, EGLint *count)
{
    (void)room, (void)devices, (void)count;
    return EGL_FALSE;
}

static const char *pretend_device_string(EGLDeviceEXT device, EGLint name)
{
    (void)name;
    return *(int *)device < 0 ? "EGL_EXT_device_drm" : "EGL_EXT_device_drm EGL_NV_device_cuda";
}

static EGLBoolean pretend_device_attribute(EGLDeviceEXT device, EGLint name, EGLAttrib *value)
{
    ck_assert_int_eq(name, EGL_CUDA_DEVICE_NV);
    *value = *(int *)device;
    return EGL_TRUE;
}

static EGLDisplay pretend_platform_display(EGLenum platform, void *native, const EGLint *attributes)
{
    (void)attributes;
    ck_assert_uint_lt(asked_count, sizeof(asked) - 1);
    asked[asked_count++] =
        platform == EGL_PLATFORM_DEVICE_EXT ? (char)('0' + ((int *)native - ordinals)) : 's';
    return EGL_NO_DISPLAY;
}

static void pretend_devices(const char *extensions)
{
    memset(asked, 0, sizeof(asked));
    asked_count = 0;
    client_extensions = extensions;
    epoxy_eglQueryString = pretend_query_string;
    epoxy_eglQueryDevicesEXT = pretend_query_devices;
    epoxy_eglQueryDeviceStringEXT = pretend_device_string;
    epoxy_eglQueryDeviceAttribEXT = pretend_device_attribute;
    epoxy_eglGetPlatformDisplayEXT = pretend_platform_display;
}

#define BASE "EGL_EXT_client_extensions EGL_EXT_platform_base EGL_MESA_platform_surfaceless"

static TCase *add_pretend_case(Suite *suite, const char *name)
{
    return with_fixture(add_egl_case(suite, name), remember, put_back);
}

GROUP("a simulated EGL", add_pretend_case)

/*
 * The device that reports the right CUDA device comes first; on the software driver, after the
 * surfaceless platform.
 */
TEST(devices_are_tried_in_the_order_of_their_properties)
{
    static const int all[][DEVICES] = {{-1, 1, 0}, {0, 1, -1}};
    static const char *const soft[] = {"s201", "s012"}, *const gpu[] = {"21", "01"};
    for (int i = 0; i < 2; i++) {
        memcpy(ordinals, all[i], sizeof(ordinals));
        pretend_devices(BASE " EGL_EXT_platform_device EGL_EXT_device_base");
        ck_assert_ptr_null(gr_egl_create(NULL));
        ck_assert_str_eq(asked, (gr_cuda_is_software() ? soft : gpu)[i]);
    }
    assert_error(GR_ERR_GL, 0,
                 "No EGL device belongs to CUDA device 0; found: EGL device 0 (CUDA device 0), EGL "
                 "device 1 (CUDA device 1), EGL device 2 (no "
                 "CUDA device)");
}

TEST(creation_without_egl_devices_is_refused)
{
    static const char *const lists[] = {BASE, BASE " EGL_EXT_platform_device",
                                        /* this name is only a prefix of a real one */
                                        BASE " EGL_EXT_platform_device EGL_EXT_device_enumeration2",
                                        BASE " EGL_EXT_platform_device EGL_EXT_device_enumeration"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        pretend_devices(lists[i]);
        epoxy_eglQueryDevicesEXT = no_devices;
        ck_assert_ptr_null(gr_egl_create(NULL));
        assert_error(GR_ERR_GL, 0, "found: no EGL device.");
        ck_assert_str_eq(asked, gr_cuda_is_software() ? "s" : "");
    }
    pretend_devices("EGL_EXT_client_extensions");
    ck_assert_ptr_null(gr_egl_create(NULL));
    assert_error(GR_ERR_GL, 0, "an EGL without EGL_EXT_platform_base");
    pretend_devices(NULL);
    ck_assert_ptr_null(gr_egl_create(NULL));
    assert_error(GR_ERR_GL, 0, "an EGL without EGL_EXT_platform_base");
    ck_assert_str_eq(asked, "");
}

TEST(sharing_with_a_context_of_a_terminated_display_is_refused)
{
    pretend_devices(BASE);
    epoxy_eglQueryDevicesEXT = no_devices;
    ck_assert_ptr_null(gr_egl_create(&OPTIONS(.share = fx.egl)));
    assert_error(GR_ERR_GL, 0, "display of the `share` context is no longer available");
}

/* ---- Calls that fail ------------------------------------------------------------------------- */

static EGLBoolean no_display(EGLDisplay display, EGLint *major, EGLint *minor)
{
    (void)major, (void)minor;
    return own.eglInitialize(display == EGL_NO_DISPLAY ? display : EGL_NO_DISPLAY, NULL, NULL);
}

static EGLBoolean no_opengl(EGLenum api)
{
    return own.eglBindAPI(api == EGL_OPENGL_API ? EGL_NONE : api);
}

static EGLBoolean no_config(EGLDisplay display, const EGLint *wanted, EGLConfig *configs,
                            EGLint room, EGLint *count)
{
    static const EGLint none[] = {EGL_RED_SIZE, 4096, EGL_NONE};
    (void)wanted;
    return own.eglChooseConfig(display, none, configs, room, count);
}

static EGLContext no_context(EGLDisplay display, EGLConfig config, EGLContext share,
                             const EGLint *attributes)
{
    static const EGLint wrong[] = {EGL_CONTEXT_MAJOR_VERSION, 77, EGL_NONE};
    (void)attributes;
    return own.eglCreateContext(display, config, share, wrong);
}

/* The previous context may or may not stay current. */
static EGLBoolean no_current(EGLDisplay display, EGLSurface draw, EGLSurface read,
                             EGLContext context)
{
    if (context == fx.egl->context || context == EGL_NO_CONTEXT)
        return own.eglMakeCurrent(display, draw, read, context);
    return own.eglMakeCurrent(display, draw, read, (EGLContext)(intptr_t)0x7777);
}

static void fail_at(int step)
{
    put_back();
    if (step == 0)
        epoxy_eglInitialize = no_display;
    else if (step == 1)
        epoxy_eglBindAPI = no_opengl;
    else if (step == 2)
        epoxy_eglChooseConfig = no_config;
    else if (step == 3)
        epoxy_eglCreateContext = no_context;
    else
        epoxy_eglMakeCurrent = no_current;
}

/* Each failure is reported with the code of EGL, and the current context stays current. */
TEST(a_failure_of_each_egl_call_is_reported)
{
    static const struct {
        const char *call, *text;
    } expected[] = {
        {"eglInitialize", "The display could not be initialised on"},
        {"eglBindAPI", "EGL has no desktop OpenGL on"},
        {"eglChooseConfig", "There is no configuration for desktop OpenGL on"},
        {"eglCreateContext", "No core context of OpenGL 3.3 or newer could be created"},
        {"eglMakeCurrent", "The new context could not be made current on"},
    };
    for (int step = 0; step < 5; step++) {
        fail_at(step);
        ck_assert_ptr_null(gr_egl_create(NULL));
        ck_assert_str_eq(gr_last_error()->call, expected[step].call);
        assert_error(GR_ERR_GL, -1, expected[step].text);
        ck_assert_ptr_eq(eglGetCurrentContext(), fx.egl->context);
    }
    put_back();
    gr_egl_free(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
}

TEST(the_message_names_the_lowest_version_and_that_objects_are_shared)
{
    epoxy_eglCreateContext = no_context;
    ck_assert_ptr_null(gr_egl_create(&OPTIONS(.major = 4, .minor = 5)));
    assert_error(GR_ERR_GL, -1, "no version from 3.3 on is available.");
    ck_assert_ptr_null(gr_egl_create(&OPTIONS(.compatibility = true, .share = fx.egl)));
    assert_error(GR_ERR_GL, -1,
                 "No compatibility context of OpenGL 3.3 or newer that shares objects could be");
}

TEST(making_a_context_of_another_thread_current_is_refused)
{
    GR_AUTO(gr_egl) *second = must_make(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
    epoxy_eglMakeCurrent = no_current;
    ck_assert_int_eq(gr_egl_make_current(second), GR_ERR_GL);
    ck_assert_str_eq(gr_last_error()->call, "eglMakeCurrent");
    assert_error(GR_ERR_GL, -1, "The context could not be made current.");
    epoxy_eglMakeCurrent = own.eglMakeCurrent;
    assert_ok(gr_egl_make_current(second));
}

/* ---- An EGL that needs a surface ------------------------------------------------------------- */

static int surfaces;

/* Returns the extensions of the display without EGL_KHR_surfaceless_context. */
static const char *without_surfaceless(EGLDisplay display, EGLint name)
{
    static char list[8192];
    const char *text = own.eglQueryString(display, name);
    if (display == EGL_NO_DISPLAY || name != EGL_EXTENSIONS || !text)
        return text;
    snprintf(list, sizeof(list), "%s", text);
    char *word = strstr(list, "EGL_KHR_surfaceless_context");
    if (word)
        memset(word, 'x', strlen("EGL_KHR_surfaceless_context"));
    return list;
}

static EGLSurface count_pbuffers(EGLDisplay display, EGLConfig config, const EGLint *attributes)
{
    EGLSurface made = own.eglCreatePbufferSurface(display, config, attributes);
    surfaces += made != EGL_NO_SURFACE;
    return made;
}

static EGLBoolean count_destroyed(EGLDisplay display, EGLSurface surface)
{
    surfaces--;
    return own.eglDestroySurface(display, surface);
}

TEST(a_pbuffer_is_used_if_egl_needs_a_surface)
{
    surfaces = 0;
    epoxy_eglQueryString = without_surfaceless;
    epoxy_eglCreatePbufferSurface = count_pbuffers;
    epoxy_eglDestroySurface = count_destroyed;
    gr_egl *egl = must_make(gr_egl_create(NULL));
    ck_assert_int_eq(surfaces, 1);
    ck_assert_ptr_ne(eglGetCurrentSurface(EGL_DRAW), EGL_NO_SURFACE);
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
    gr_egl_free(egl);
    ck_assert_int_eq(surfaces, 0);
}
