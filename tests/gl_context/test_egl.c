/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL contexts without a window: options, the context that is current afterwards, and failures.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "egl_pretend.h"
#include "tests/support/named_functions.h"
#include "tests/support/usable.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epoxy/egl.h>

/* The context must be current, in place of that of the fixture. */
static void assert_current(const gr_egl *egl)
{
    ck_assert_ptr_eq(eglGetCurrentContext(), egl->context);
}

static gr_egl *create(const gr_egl_options *options)
{
    gr_egl *egl = must_make(gr_egl_create(options));
    ck_assert_ptr_ne(egl->context, NULL);
    assert_current(egl);
    return egl;
}

static GLint get(GLenum what)
{
    GLint value = -1;
    glGetIntegerv(what, &value);
    return value;
}

/* The current context must have this profile and at least this version. */
static void assert_context(int version, GLint profile)
{
    ck_assert_int_ge(get(GL_MAJOR_VERSION) * 10 + get(GL_MINOR_VERSION), version);
    ck_assert_int_eq(get(GL_CONTEXT_PROFILE_MASK), profile);
    assert_gl_clean();
}

GROUP("options", add_egl_case)

TEST(default_options_create_a_core_context)
{
    gr_egl *without = create(NULL);
    assert_context(33, GL_CONTEXT_CORE_PROFILE_BIT);
    ck_assert_int_eq(get(GL_CONTEXT_FLAGS) & GL_CONTEXT_FLAG_DEBUG_BIT, 0);
    GLint version = get(GL_MAJOR_VERSION) * 10 + get(GL_MINOR_VERSION);
    gr_egl *zeros = create(&GR_INIT(gr_egl_options));
    assert_context(version, GL_CONTEXT_CORE_PROFILE_BIT);
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
    gr_egl_free(zeros);
    gr_egl_free(without);
}

TEST(requested_versions_are_created)
{
    static const int wanted[][2] = {{3, 3}, {4, 0}, {4, 5}, {3, 2}};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        gr_egl *egl =
            create(&GR_INIT(gr_egl_options, .major = wanted[i][0], .minor = wanted[i][1]));
        assert_context(wanted[i][0] * 10 + wanted[i][1], GL_CONTEXT_CORE_PROFILE_BIT);
        assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
        gr_egl_free(egl);
    }
}

TEST(a_compatibility_context_is_created)
{
    gr_egl *egl = create(&GR_INIT(gr_egl_options, .compatibility = true));
    assert_context(33, GL_CONTEXT_COMPATIBILITY_PROFILE_BIT);
    ck_assert_int_eq(get(GL_MATRIX_MODE), GL_MODELVIEW); /* a core profile has no GL_MATRIX_MODE */
    assert_gl_clean();
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
    gr_egl_free(egl);
}

TEST(a_debug_context_is_created)
{
    gr_egl *egl = create(&GR_INIT(gr_egl_options, .debug = true));
    assert_context(33, GL_CONTEXT_CORE_PROFILE_BIT);
    ck_assert_int_ne(get(GL_CONTEXT_FLAGS) & GL_CONTEXT_FLAG_DEBUG_BIT, 0);
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
    gr_egl_free(egl);
}

TEST(sharing_contexts_use_the_same_buffers)
{
    GLuint name = gl_buffer_pattern(777, 5);
    gr_egl *sharing = create(&GR_INIT(gr_egl_options, .share = fx.egl));
    assert_gl_pattern(name, 777, 5);
    GLuint made_here = gl_buffer_pattern(333, 6);
    glFinish();
    assert_ok(gr_egl_make_current(fx.egl));
    assert_gl_pattern(made_here, 333, 6);
    gr_egl_free(sharing);
    assert_gl_pattern(made_here, 333, 6);

    gr_egl *stranger = create(NULL);
    ck_assert(!glIsBuffer(name));
    gr_egl_free(stranger);
}

static void assert_found(const char *name)
{
    ck_assert_msg(eglGetProcAddress(name), "a document calls %s(), which does not exist", name);
}

TEST(documented_functions_exist_in_the_context)
{
    if (!visit_named_functions("gl", assert_found) || !visit_named_functions("egl", assert_found))
        skip("the sources are not available");
}

GROUP("failures", add_egl_case)

/* gr_egl_create() must refuse the options, and the current context must stay current. */
#define assert_refused(options, status, text)                                                      \
    do {                                                                                           \
        const gr_egl_options options_ = options;                                                   \
        EGLContext before_ = eglGetCurrentContext();                                               \
        EGLenum api_ = eglQueryAPI();                                                              \
        assert_null(gr_egl_create(&options_), status, -1, text);                                   \
        ck_assert_ptr_eq(eglGetCurrentContext(), before_);                                         \
        ck_assert_uint_eq(eglQueryAPI(), api_);                                                    \
    } while (0)
#define OPTIONS(...) (GR_INIT(gr_egl_options, __VA_ARGS__))

TEST(an_unavailable_version_is_refused)
{
    assert_refused(OPTIONS(.major = 9, .minor = 9), GR_ERR_GL, "9.9 core");
    assert_refused(OPTIONS(.major = 9, .minor = 9, .compatibility = true), GR_ERR_GL,
                   "9.9 compatibility");
    assert_refused(OPTIONS(.major = 9, .minor = 9, .share = fx.egl), GR_ERR_GL, "9.9");
    assert_refused(OPTIONS(.major = 9), GR_ERR_GL, "9.0");
    gr_error error;
    ck_assert_ptr_eq(gr_egl_create(&OPTIONS(.major = 9)), NULL);
    error = *gr_last_error();
    ck_assert_str_eq(error.call, "eglCreateContext");
    ck_assert_msg(strncmp(error.code_name, "EGL_BAD_", 8) == 0, "%s", error.code_name);
    /* The message lists the devices that were found. */
    ck_assert_ptr_ne(strstr(error.message, "EGL device"), NULL);
    glGenBuffers(1, &(GLuint){0});
    assert_gl_clean();
}

/*
 * The message names the newest version: the one that a context gets if no version is requested.
 *
 * Catches: for a version that does not exist the message recommended to install Mesa or the NVIDIA
 * EGL.
 */
TEST(the_message_for_an_unavailable_version_names_the_newest_version)
{
    char newest[32];
    gr_egl *egl = create(NULL);
    snprintf(newest, sizeof(newest), "%d.%d is the newest", get(GL_MAJOR_VERSION),
             get(GL_MINOR_VERSION));
    gr_egl_free(egl);
    assert_refused(OPTIONS(.major = 9, .minor = 9), GR_ERR_GL, newest);
    ck_assert_ptr_null(gr_egl_create(&OPTIONS(.major = 9)));
    const char *said = gr_last_error()->message;
    ck_assert_msg(strstr(said, "`major` 0"), "%s", said);
    ck_assert_msg(!strstr(said, "nstall") && !strstr(said, "NVIDIA EGL"), "%s", said);
}

TEST(a_negative_version_is_refused)
{
    assert_refused(OPTIONS(.major = -1), GR_ERR_INVALID_VALUE, "-1.0");
    assert_refused(OPTIONS(.major = 4, .minor = -3), GR_ERR_INVALID_VALUE, "4.-3");
}

TEST(a_missing_cuda_device_is_refused)
{
    char text[32];
    int count = device_past_last(text, sizeof(text));
    assert_refused(OPTIONS(.cuda_device = count), GR_ERR_INVALID_VALUE, text);
    assert_refused(OPTIONS(.cuda_device = -1), GR_ERR_INVALID_VALUE, "CUDA device -1");
    assert_refused(OPTIONS(.cuda_device = INT_MAX), GR_ERR_INVALID_VALUE, "2147483647");
    assert_refused(OPTIONS(.cuda_device = INT_MIN), GR_ERR_INVALID_VALUE, "-2147483648");
}

TEST(a_failed_creation_makes_no_context_current)
{
    assert_ok(gr_egl_make_current(NULL));
    assert_refused(OPTIONS(.major = 9, .minor = 9), GR_ERR_GL, "9.9");
    ck_assert_ptr_eq(eglGetCurrentContext(), NULL);
}

/* EGL has a current context per API. The context of OpenGL ES must stay unchanged. */
TEST(a_failed_creation_keeps_the_bound_api)
{
    eglBindAPI(EGL_OPENGL_ES_API);
    assert_null(gr_egl_create(&OPTIONS(.major = 9, .minor = 9)), GR_ERR_GL, -1, "9.9");
    ck_assert_uint_eq(eglQueryAPI(), EGL_OPENGL_ES_API);
    eglBindAPI(EGL_OPENGL_API);
    assert_current(fx.egl);
}

GROUP("no EGL driver", add_egl_case)

#define FILES     "__EGL_VENDOR_LIBRARY_FILENAMES"
#define FOLDERS   "__EGL_VENDOR_LIBRARY_DIRS"
#define MESA_JSON "/usr/share/glvnd/egl_vendor.d/50_mesa.json"

/* The message must contain each of the words in TEST_WORDS, which are separated by |. */
CHILD(finds_no_vendor)
{
    char words[512];
    child_check(!gr_egl_create(NULL));
    child_check(gr_last_error()->status == GR_ERR_GL);
    snprintf(words, sizeof(words), "%s", getenv("TEST_WORDS"));
    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"))
        ck_assert_msg(strstr(gr_last_error()->message, word), "no \"%s\" in: %s", word,
                      gr_last_error()->message);
    return 0;
}

/* Sets one of the two variables of the EGL loader to this value and unsets the other one. */
static void expect_words(const char *variable, const char *value, const char *words)
{
    static const char *const both[] = {FILES, FOLDERS};
    char *before[2];
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(both[i]);
        before[i] = text ? strdup(text) : NULL;
        unsetenv(both[i]);
    }
    setenv(variable, value, 1);
    setenv("TEST_WORDS", words, 1);
    expect_child("finds_no_vendor");
    unsetenv(variable);
    for (int i = 0; i < 2; i++) {
        if (before[i])
            setenv(both[i], before[i], 1);
        free(before[i]);
    }
}

static const char *make_json(const char *text)
{
    static char path[] = P_tmpdir "/gr-test-egl.json";
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
    return path;
}

/* Catches: the message said "install Mesa" although a variable hid an installed Mesa. */
TEST(variables_that_name_missing_vendor_files_are_reported)
{
    expect_words(FILES, "/nonexistent/a.json:/nonexistent/b.json",
                 FILES " names /nonexistent/a.json (not there), /nonexistent/b.json (not there)|"
                       "nset it");
    expect_words(FILES, "", FILES " names nothing|nset it");
    expect_words(FOLDERS, "/nonexistent", FOLDERS " names /nonexistent (not there)|nset it");
    expect_words(FOLDERS, "/usr/include", FOLDERS " names /usr/include (has no .json file)");
    if (!gr_cuda_is_software() || access(MESA_JSON, R_OK) != 0)
        skip("Mesa's EGL is not where distributions put it, or not the one in use");
    expect_words(FILES, "/nonexistent/a.json", "let it name " MESA_JSON ", which exists");
    expect_words(FOLDERS, "/usr/include", "let it name /usr/share/glvnd/egl_vendor.d, which");
}

TEST(vendor_files_without_a_usable_library_are_reported)
{
    const char *path = make_json("{\"ICD\": {\"library_path\" : \"libEGL_no_such.so.0\"}}\n");
    expect_words(FILES, path, "gr-test-egl.json (its libEGL_no_such.so.0 cannot be loaded)");
    path = make_json("{\"ICD\": {\"library_path\": \"libm.so.6\"}}\n");
    expect_words(FILES, path, "gr-test-egl.json (its libm.so.6 can be loaded)");
    path = make_json("{}\n");
    expect_words(FILES, path, "gr-test-egl.json (names no library)");
    unlink(path);
}

GROUP("the current context", add_egl_case)

TEST(make_current_switches_between_contexts)
{
    GR_AUTO(gr_egl) *second = create(NULL);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_current(fx.egl);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_current(fx.egl);
    assert_ok(gr_egl_make_current(NULL));
    ck_assert_ptr_eq(eglGetCurrentContext(), NULL);
    assert_ok(gr_egl_make_current(NULL));
    assert_ok(gr_egl_make_current(second));
    assert_current(second);
}

TEST(freeing_the_current_context_leaves_none_current)
{
    gr_egl_free(create(NULL));
    ck_assert_ptr_eq(eglGetCurrentContext(), NULL);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
}

TEST(freeing_another_context_keeps_the_current_one)
{
    gr_egl *second = create(NULL);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_egl_free(second);
    assert_current(fx.egl);
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
    second = create(NULL);
    assert_ok(gr_egl_make_current(NULL));
    gr_egl_free(second);
    ck_assert_ptr_eq(eglGetCurrentContext(), NULL);
}

TEST(the_end_of_a_scope_frees_the_context)
{
    {
        GR_AUTO(gr_egl) *egl = create(NULL);
        (void)egl;
    }
    ck_assert_ptr_eq(eglGetCurrentContext(), NULL);
}

/* Each context keeps its bindings and its own buffers. */
TEST(two_contexts_are_used_alternately)
{
    gr_egl *both[2] = {create(NULL), create(NULL)};
    GLuint names[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_egl_make_current(both[i]));
        for (int skipped = 0; skipped < i; skipped++)
            glGenBuffers(1, &names[i]); /* makes the names of the two contexts differ */
        names[i] = gl_buffer_filled(USABLE_SIZE, i + 1);
        glBindBuffer(GL_ARRAY_BUFFER, names[i]);
    }
    ck_assert_uint_ne(names[0], names[1]);
    for (int round = 0; round < 20; round++) {
        int i = round % 2, value = round + 10;
        assert_ok(gr_egl_make_current(both[i]));
        ck_assert_int_eq(get(GL_ARRAY_BUFFER_BINDING), (GLint)names[i]);
        assert_gl_bytes(names[i], USABLE_SIZE, round < 2 ? i + 1 : value - 2);
        gr_buffer *buffer = must_make(gr_map_gl_buffer(names[i], GR_WRITE_DISCARD, fx.stream));
        CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, USABLE_SIZE, fx.stream));
        assert_ok(gr_buffer_release(buffer));
    }
    gr_egl_free(both[0]);
    gr_egl_free(both[1]);
}

static void *make_current_here(void *egl)
{
    static gr_error error;
    gr_status status = gr_egl_make_current(egl);
    error = *gr_last_error();
    if (status == GR_OK)
        status = gr_egl_make_current(NULL);
    return status == GR_OK ? NULL : &error;
}

TEST(a_context_current_on_another_thread_is_refused)
{
    const gr_error *error = elsewhere(make_current_here, fx.egl);
    ck_assert_ptr_ne(error, NULL);
    ck_assert_int_eq(error->status, GR_ERR_GL);
    ck_assert_int_eq(error->code, EGL_BAD_ACCESS);
    ck_assert_str_eq(error->code_name, "EGL_BAD_ACCESS");
    ck_assert_str_eq(error->call, "eglMakeCurrent");
    ck_assert_ptr_ne(strstr(error->message, "create another context"), NULL);
    assert_current(fx.egl);
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));

    assert_ok(gr_egl_make_current(NULL));
    ck_assert_ptr_eq(elsewhere(make_current_here, fx.egl), NULL);
    assert_ok(gr_egl_make_current(fx.egl));
}

GROUP("queries", add_egl_case)

TEST(the_handles_are_those_of_the_current_context)
{
    EGLDisplay display = fx.egl->display;
    EGLint id = -1, found = -2;
    ck_assert_ptr_eq(display, eglGetCurrentDisplay());
    ck_assert(eglQueryContext(display, fx.egl->context, EGL_CONFIG_ID, &id));
    ck_assert(eglGetConfigAttrib(display, fx.egl->config, EGL_CONFIG_ID, &found));
    ck_assert_int_eq(id, found);
}

TEST(the_description_names_renderer_and_devices)
{
    const char *text = fx.egl->description;
    ck_assert_ptr_ne(strstr(text, (const char *)glGetString(GL_RENDERER)), NULL);
    bool surfaceless = strstr(text, "surfaceless");
    ck_assert_msg(surfaceless || strstr(text, "EGL device"), "%s", text);
    ck_assert_msg(gr_cuda_is_software() || strstr(text, "CUDA device 0"), "%s", text);
    ck_assert_ptr_eq(strchr(text, '\n'), NULL);
}

/* The fixture detects descriptors that stay open. */
TEST(thirty_contexts_are_created_and_freed_in_turn)
{
    for (int i = 0; i < 30; i++) {
        gr_egl *egl = create(i % 2 ? &OPTIONS(.share = fx.egl) : NULL);
        if (i % 3 == 0)
            assert_ok(gr_egl_make_current(fx.egl));
        gr_egl_free(egl);
        assert_ok(gr_egl_make_current(fx.egl));
    }
    assert_buffer_usable(gl_buffer_filled(USABLE_SIZE, 1));
}

/*
 * For an unavailable version the library tries each EGL device. This also opens GPUs that the tests
 * do not use, and they stay open.
 *
 * Catches: on two GPUs a case left /dev/nvidia1 open.
 */
static void open_all_devices(void)
{
    int count = 0;
    CU(DeviceGetCount(&count));
    for (int i = 0; i < count; i++)
        gr_egl_free(gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = i)));
    gr_egl_free(gr_egl_create(&GR_INIT(gr_egl_options, .major = 9)));
    gr_clear_error();
    assert_ok(gr_egl_make_current(fx.egl));
}

TCase *add_egl_case(Suite *suite, const char *name)
{
    return with_first_use(add_case(suite, name), open_all_devices);
}
