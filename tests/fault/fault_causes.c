/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The causes that messages name: the code of the driver, the device that renders, and what the
 * machine lacks.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "tests/support/next.h"

#include <grinterop/tensor.h>

#include "lib/cuda/driver_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

/* The message of the last error must contain these words. */
static void assert_says(const char *words)
{
    const char *said = gr_last_error()->message;
    ck_assert_msg(strstr(said, words), "no \"%s\" in: %s", words, said);
}

/* ---- The simulated machine ------------------------------------------------------------------- */

static const char *kernel;    /* the result that uname() returns; NULL: the real one */
static const char *no_node;   /* the device node that seems to be missing */
static const char *shut_node; /* the device node that seems to exist but cannot be opened */

int uname(struct utsname *name)
{
    NEXT(uname);
    int result = next(name);
    if (kernel)
        snprintf(name->release, sizeof(name->release), "%s", kernel);
    return result;
}

int access(const char *path, int mode)
{
    NEXT(access);
    if (no_node && strcmp(path, no_node) == 0)
        return -1;
    if (shut_node && strcmp(path, shut_node) == 0)
        return mode == F_OK ? 0 : -1;
    return next(path, mode);
}

GROUP("causes", add_fault_case)

/*
 * The message must end with the copy transport, which works whichever device renders.
 *
 * Catches: with llvmpipe the message named drivers to install, but not the copy transport.
 */
TEST(the_message_of_a_refused_registration_names_the_copy_transport)
{
    static const char *const kernels[] = {NULL, "5.15.90.1-microsoft-standard-WSL2"};
    for (int i = 0; i < 2; i++) {
        kernel = kernels[i];
        let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
        ck_assert_ptr_null(gr_from_gl_buffer(name, GR_READ_WRITE));
        assert_says("GR_TRANSPORT_COPY or GR_TRANSPORT_ANY in gr_gl_options.transports.");
        assert_says(kernel ? "WSL does not support" : "OpenGL draws on ");
        if (!kernel && gr_cuda_is_software())
            assert_says("libnvidia-gl");
        kernel = NULL;
    }
}

/* cuMemCreate() of the software driver cannot allocate memory of the host. */
TEST(the_message_of_memory_on_the_host_names_the_way_out)
{
    static const int64_t size = SIZE;
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = &size, .exportable = true);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    fault->give_host_memory(true);
    assert_null(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED, 0,
                "it is not on a CUDA device. Allocate it by gr_tensor_create() with `exportable`");
    fault->reset();
}

/* The strings that OpenGL reports; NULL: the real ones. */
static const char *vendor, *renderer;
static __typeof__(epoxy_glGetString) own_get_string;

static const GLubyte *pretend_get_string(GLenum what)
{
    const char *text = what == GL_VENDOR ? vendor : what == GL_RENDERER ? renderer : NULL;
    return text ? (const GLubyte *)text : own_get_string(what);
}

/* The advice depends on the renderer, on environment variables and on the code of the driver. */
TEST(refused_registrations_name_the_remedy)
{
    static const struct {
        const char *vendor, *renderer;
        CUresult code;
        const char *variable, *text;
    } cases[] = {
        {"Mesa", "softpipe", CUDA_ERROR_UNKNOWN, NULL, "OpenGL draws on the CPU. "},
        {"Mesa", "swrast", CUDA_ERROR_UNKNOWN, NULL, "OpenGL draws on the CPU. "},
        {"Intel", "Mesa Intel(R) Arc", CUDA_ERROR_UNKNOWN, NULL, "GPU of another vendor. "},
        {"Intel", "Mesa Intel(R) Arc", CUDA_ERROR_OUT_OF_MEMORY, NULL, "GPU of another vendor. "},
        {"NVIDIA Corporation", "NVIDIA RTX", CUDA_ERROR_OUT_OF_MEMORY, NULL, "may be out of mem"},
        {"NVIDIA Corporation", "NVIDIA RTX", CUDA_ERROR_UNKNOWN, NULL, "use the same device"},
        {"NVIDIA Corporation", "NVIDIA RTX", CUDA_ERROR_UNKNOWN, "VGL_ISACTIVE", "VirtualGL is "},
        /* on this machine the variable hides no device, so the message must not blame it */
        {"NVIDIA Corporation", "NVIDIA RTX", CUDA_ERROR_UNKNOWN, "CUDA_VISIBLE_DEVICES",
         "the same dev"},
    };
    own_get_string = (__typeof__(own_get_string))eglGetProcAddress("glGetString");
    __typeof__(epoxy_glGetString) before = epoxy_glGetString;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *variable = cases[i].variable;
        const char *was = variable ? getenv(variable) : NULL;
        vendor = cases[i].vendor;
        renderer = cases[i].renderer;
        epoxy_glGetString = pretend_get_string;
        if (variable && !was)
            setenv(variable, "0", 1);
        let_fail(REGISTER, cases[i].code, 0);
        ck_assert_ptr_null(gr_from_gl_buffer(name, 0));
        if (variable && !was)
            unsetenv(variable);
        epoxy_glGetString = before;
        assert_says(renderer);
        assert_says(cases[i].text);
        gr_clear_error();
        fault->reset();
    }
}

/* Catches: the advice was to use the device that draws. */
TEST(a_registration_in_a_destroyed_context_gets_no_advice_about_devices)
{
    let_fail(REGISTER, CUDA_ERROR_CONTEXT_IS_DESTROYED, 0);
    ck_assert_ptr_null(gr_from_gl_buffer(name, 0));
    assert_says("The current CUDA context was destroyed or reset. ");
    ck_assert_ptr_null(strstr(gr_last_error()->message, "OpenGL draws on"));
    fault->reset();
}

TEST(messages_of_some_codes_name_the_remedy)
{
    static const struct {
        CUresult code;
        const char *words;
    } codes[] = {
        {CUDA_ERROR_OUT_OF_MEMORY, "nvidia-smi"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "compute-sanitizer"},
        {CUDA_ERROR_CONTEXT_IS_DESTROYED, "create them again in another context"},
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        let_fail(MAP, codes[i].code, 0);
        ck_assert_ptr_null(gr_map(resource, fx.stream));
        assert_says(codes[i].words);
    }
    assert_resource_usable(resource, name);
}

static unsigned times_said(const char *words)
{
    unsigned times = 0;
    for (const char *at = gr_last_error()->message; (at = strstr(at, words)); at++)
        times++;
    return times;
}

/* Catches: the advice for the code and the message of the call both explained the code. */
TEST(causes_are_explained_once)
{
    static const CUresult codes[] = {CUDA_ERROR_UNKNOWN, CUDA_ERROR_ILLEGAL_ADDRESS,
                                     CUDA_ERROR_CONTEXT_IS_DESTROYED};
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        let_fail(MAP, codes[i], 0);
        ck_assert_ptr_null(gr_map(resource, fx.stream));
        ck_assert_uint_le(times_said("earlier work"), 1);
        CU(CtxSetCurrent(NULL));
        let_fail("cuCtxPushCurrent", codes[i], 0);
        ck_assert_ptr_null(gr_map(resource, fx.stream));
        CU(CtxSetCurrent(fx.context));
        ck_assert_uint_eq(times_said("outlive"), 1);
        assert_cuda_error("cuCtxPushCurrent", codes[i], result_name(codes[i]));
    }
    assert_resource_usable(resource, name);
}

/* ---- Start of the driver --------------------------------------------------------------------- */

/* A driver that exists but fails to start counts as missing. */
CHILD(init_fails)
{
    static const int codes[] = {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                                CUDA_ERROR_UNKNOWN};
    for (int i = 0; i < 3; i++) {
        child_check(fault->set("cuInit", codes[i], 0));
        child_check(gr_cuda_load(i == 1) == GR_ERR_NO_DRIVER);
        assert_error(GR_ERR_NO_DRIVER, codes[i], "fault_driver.so");
        child_check(!gr_cuda_is_software());
        child_check(gr_cuda_driver_path()[0] == '\0');
    }
    /* The failure is not permanent. */
    child_check(gr_cuda_load(false) == GR_OK);
    child_check(gr_cuda());
    return 0;
}

#define NAME(name, version, parameters) "cu" #name,
#define NOTHING(name, version, parameters)
static const char *const required[] = {GR_DRIVER_FUNCTIONS(NAME, NOTHING)};

/* The driver is too old: it lacks one required function. Each function is tested in turn. */
CHILD(each_function_missing)
{
    for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++) {
        char text[120];
        snprintf(text, sizeof(text), "%s,", required[i]);
        setenv("FAULT_DRIVER_LACKS", text, 1);
        snprintf(text, sizeof(text), "it has no %s. CUDA 11.2 or newer is needed", required[i]);
        child_check(gr_cuda_load(false) == GR_ERR_NO_DRIVER);
        assert_error(GR_ERR_NO_DRIVER, 0, text);
        child_check(!gr_cuda());
        gr_clear_error();
    }
    unsetenv("FAULT_DRIVER_LACKS");
    child_check(gr_cuda_load(false) == GR_OK);
    return 0;
}

/* For each code of cuInit the message names the cause, which depends on what the machine shows. */
CHILD(init_names_causes)
{
    static const char wsl[] = "5.15.90.1-microsoft-standard-WSL2", tegra[] = "5.15.148-tegra";
    static const struct {
        CUresult code;
        const char *words[3], *kernel, *missing, *shut; /* `kernel` NULL: 6.1.0 */
    } cases[] = {
        {CUDA_ERROR_NO_DEVICE, .words = {"CUDA_VISIBLE_DEVICES", "/dev/nvidiactl is "}},
        {CUDA_ERROR_OPERATING_SYSTEM, .missing = "/dev/nvidiactl", .shut = "/dev/nvidia-uvm",
         .words = {"rights", "/dev/nvidiactl is not there",
                   "/dev/nvidia-uvm is not accessible to this user"}},
        {CUDA_ERROR_OPERATING_SYSTEM, .kernel = wsl, .missing = "/dev/dxg",
         .words = {"WSL", "/dev/dxg, which is not there", "/usr/lib/wsl/lib"}},
        {CUDA_ERROR_NO_DEVICE, .kernel = wsl, .shut = "/dev/dxg",
         .words = {"/dev/dxg, which is not accessible to this user"}},
        {CUDA_ERROR_UNKNOWN, .kernel = tegra, .missing = "/dev/dri/renderD128",
         .shut = "/dev/nvmap",
         .words = {"/dev/nvmap, which is not accessible to this user",
                   "/dev/dri/renderD128, which is not there", "--runtime nvidia"}},
        {CUDA_ERROR_NOT_SUPPORTED, .kernel = tegra, .missing = "/dev/nvmap",
         .words = {"/dev/nvmap, which is not there"}},
        {CUDA_ERROR_UNKNOWN, .missing = "/dev/nvidia-uvm",
         .words = {"nvidia-modprobe -u", "/dev/nvidia-uvm is not there", "nvidia_uvm"}},
        {CUDA_ERROR_SYSTEM_NOT_READY, .words = {"nvidia-fabricmanager"}},
        {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, .words = {"different versions", "restart"}},
        {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, .words = {"cuda-compat", "LD_LIBRARY_PATH"}},
        {CUDA_ERROR_STUB_LIBRARY, .words = {"lib64/stubs"}},
        {CUDA_ERROR_NOT_FOUND, .words = {"nvidia-smi"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        kernel = cases[i].kernel ? cases[i].kernel : "6.1.0";
        no_node = cases[i].missing;
        shut_node = cases[i].shut;
        child_check(fault->set("cuInit", (int)cases[i].code, 0));
        child_check(gr_cuda_load(false) == GR_ERR_NO_DRIVER);
        for (int word = 0; word < 3 && cases[i].words[word]; word++)
            assert_says(cases[i].words[word]);
        assert_error(GR_ERR_NO_DRIVER, (int)cases[i].code, "GR_CUDA_DRIVER=soft");
    }
    return 0;
}

TEST(messages_about_a_driver_that_does_not_start_name_the_cause)
{
    expect_child("init_fails");
    expect_child("init_names_causes");
    expect_child("each_function_missing");
}

/* In a process of its own, in which no other case has objects of the primary context. */
CHILD_TEST(a_context_is_freed_after_its_reset)
{
    gr_cuda_context *context = must_make(gr_cuda_context_create(fixture_cuda_device()));
    child_check(gr_cuda()->DevicePrimaryCtxReset(fixture_cuda_device()) == CUDA_SUCCESS);
    fault->reset();
    gr_cuda_context_free(context);
    child_check(fault->calls("cuStreamQuery") + fault->calls("cuStreamDestroy") == 0);
    child_check(fault->calls("cuDevicePrimaryCtxRelease") == 1);
    return 0;
}
