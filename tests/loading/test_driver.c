/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finding and loading the CUDA driver. A driver stays loaded for the life of the process, so each
 * case runs in a child process whose environment names the driver of the case.
 */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "tests/support/child_check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Environments ---------------------------------------------------------------------------- */

/*
 * Sets or unsets a variable for the child processes of one case. The fixture restores all
 * variables.
 */
static void set(const char *variable, const char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

static const char *const variables[] = {"GR_CUDA_DRIVER", "GR_LOG", "CUDA_VISIBLE_DEVICES",
                                        "GR_SOFT_DEVICES", "TEST_FILE"};
#define VARIABLES (sizeof(variables) / sizeof(*variables))
static char *before[VARIABLES];
static char file[64];

static void remember_environment(void)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *value = getenv(variables[i]);
        before[i] = value ? strdup(value) : NULL;
    }
    set("GR_LOG", NULL);
}

static void restore_environment(void)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        set(variables[i], before[i]);
        free(before[i]);
    }
    if (file[0])
        unlink(file);
    file[0] = '\0';
}

/* Creates a file with these bytes, which is deleted at the end of the case. */
static const char *make_file(const void *bytes, size_t size)
{
    snprintf(file, sizeof(file), "%s/gr-test-driver-XXXXXX", P_tmpdir);
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    return file;
}

/*
 * The number of output lines of a child that come from grinterop; the other lines come from Check.
 */
static int lines_of_grinterop(const char *text)
{
    int count = strncmp(text, "grinterop", 5) == 0;
    while ((text = strchr(text, '\n')))
        count += strncmp(++text, "grinterop", 5) == 0;
    return count;
}

static TCase *add_environment_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), remember_environment, restore_environment);
}

GROUP("no driver", add_environment_case)

CHILD(is_unusable)
{
    const char *named = getenv("TEST_FILE");
    for (int allow_software = 0; allow_software < 2; allow_software++) {
        child_check(gr_cuda_load(allow_software) == GR_ERR_NO_DRIVER);
        child_check(strstr(gr_last_error()->message, getenv("TEST_WHY")));
        assert_error(GR_ERR_NO_DRIVER, 0, named);
        child_check(!gr_cuda());
        assert_error(GR_ERR_NO_DRIVER, 0, named);
    }
    child_check(!cuda_symbol("cuInit", 2000));
    assert_error(GR_ERR_NO_DRIVER, 0, named);
    child_check(!gr_from_gl_buffer(1, GR_READ_WRITE));
    assert_error(GR_ERR_NO_DRIVER, 0, named);
    child_check(!gr_map_gl_buffer(1, GR_READ_WRITE, CU_STREAM_LEGACY));
    assert_error(GR_ERR_NO_DRIVER, 0, named);
    child_check(!gr_egl_create(NULL));
    assert_error(GR_ERR_NO_DRIVER, 0, named);
    child_check(!gr_cuda_is_software());
    child_check(gr_cuda_driver_path()[0] == '\0');
    return 0;
}

/*
 * If GR_CUDA_DRIVER names a driver, no other driver is used, even if the software driver is
 * allowed.
 */
static void expect_unusable(const char *driver, const char *why)
{
    set("GR_CUDA_DRIVER", driver);
    set("TEST_FILE", driver);
    set("TEST_WHY", why);
    expect_child("is_unusable");
}

TEST(a_missing_driver_file_is_refused)
{
    expect_unusable("/nonexistent/libcuda.so.1", "could not be loaded: /nonexistent/libcuda.so.1:");
    expect_unusable("grinterop-no-such-driver.so", "No such file");
}

TEST(a_text_file_as_driver_is_refused)
{
    static const char text[] = "This is no driver.\n";
    expect_unusable(make_file(text, sizeof(text) - 1), "file too short");
}

TEST(an_empty_file_as_driver_is_refused)
{
    expect_unusable(make_file("", 0), "file too short");
}

TEST(a_library_without_cuda_functions_is_refused)
{
    expect_unusable("libm.so.6", "it has no cu");
}

GROUP("which driver", add_environment_case)

static char *read_whole(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in, "cannot read %s", path);
    fseek(in, 0, SEEK_END);
    *size = (size_t)ftell(in);
    rewind(in);
    char *bytes = malloc(*size);
    ck_assert_uint_eq(fread(bytes, 1, *size, in), *size);
    fclose(in);
    return bytes;
}

/*
 * Prints the path of the software driver. That requires loading the driver, hence the child
 * process.
 */
CHILD(print_software_driver)
{
    child_check(gr_cuda_load(false) == GR_OK);
    fprintf(stderr, "<%s>", gr_cuda_driver_path());
    return 0;
}

CHILD(works_without_look_up)
{
    const gr_cuda_api *cu = gr_cuda();
    child_check(cu);
    void *driver = dlopen(getenv("GR_CUDA_DRIVER"), RTLD_LAZY | RTLD_NOLOAD);
    child_check(driver);
    child_check(!dlsym(driver, "cuGetProcAddress_v2"));
    child_check(!dlsym(driver, "cuGetProcAddress"));
    void *allocate = dlsym(driver, "cuMemAlloc_v2");
    child_check(memcmp(&cu->MemAlloc, &allocate, sizeof(allocate)) == 0);
    child_check(!GR_CUDA_HAS(cu, GetProcAddress));

    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    unsigned char bytes[16] = {0};
    child_check(cu->DevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    child_check(cu->CtxPushCurrent(context) == CUDA_SUCCESS);
    child_check(cu->MemAlloc(&memory, sizeof(bytes)) == CUDA_SUCCESS);
    child_check(cu->MemsetD8(memory, 0x5a, sizeof(bytes)) == CUDA_SUCCESS);
    child_check(cu->MemcpyDtoH(bytes, memory, sizeof(bytes)) == CUDA_SUCCESS);
    child_check(!bytes_differ(bytes, sizeof(bytes), 0x5a));
    child_check(cu->MemFree(memory) == CUDA_SUCCESS);
    return 0;
}

static const char *copy_missing(void)
{
    return sanitizer() ? "a copied driver is missing from the sanitizer's tables" : NULL;
}

static const char *second_copy_missing(void)
{
    return gr_cuda_is_software() ? copy_missing() : "the software driver needs llvmpipe's OpenGL";
}

/*
 * Returns a copy of the software driver that has a changed name wherever the file contains `name`,
 * at least `least` times. Writes the path of the driver to `path`.
 */
static const char *copy_driver(const char *name, int least, char path[4096])
{
    char text[8192];
    set("GR_CUDA_DRIVER", "soft");
    ck_assert_int_eq(child_run("print_software_driver", text, sizeof(text)), 0);
    ck_assert_ptr_ne(strchr(text, '<'), NULL);
    ck_assert_int_eq(sscanf(strchr(text, '<'), "<%4095[^>]>", path), 1);
    size_t size;
    char *bytes = read_whole(path, &size), *end = bytes + size, *at = bytes;
    int changed = 0;
    while ((at = memmem(at, (size_t)(end - at), name, strlen(name)))) {
        at[2] = 'X';
        changed++;
    }
    ck_assert_int_ge(changed, least);
    const char *copy = make_file(bytes, size);
    free(bytes);
    return copy;
}

/*
 * Drivers before CUDA 11.3 have no cuGetProcAddress. This test creates such a driver from the
 * software driver.
 */
TEST_UNLESS(copy_missing(), a_driver_without_cu_get_proc_address_is_used)
{
    char path[4096];
    set("GR_CUDA_DRIVER", copy_driver("cuGetProcAddress", 2, path));
    expect_child("works_without_look_up");
}

CHILD(uses_the_copy_of_the_program)
{
    void *own = dlopen(getenv("TEST_FILE"), RTLD_NOW | RTLD_LOCAL);
    child_check(own);
    child_check(gr_cuda_load(false) == GR_OK);
    ck_assert_str_eq(gr_cuda_driver_path(), getenv("TEST_FILE"));
    void *allocate = dlsym(own, "cuMemAlloc_v2");
    child_check(memcmp(&gr_cuda()->MemAlloc, &allocate, sizeof(allocate)) == 0);
    return 0;
}

/* The copy has a SONAME of its own, so that the loader does not mistake it for the other file. */
TEST_UNLESS(copy_missing(), a_software_driver_that_the_program_loaded_locally_is_used, 2)
{
    char path[4096];
    const char *copy = copy_driver("libgrinterop-softcuda.so", 1, path);
    set("TEST_FILE", copy);
    set("GR_CUDA_DRIVER", _i ? "soft" : NULL);
    expect_child("uses_the_copy_of_the_program");
}

/* Creates a stream in a copy of the driver that the other copy does not have: the 100th. */
static CUstream stream_of_copy(void *copy)
{
    PFN_cuGetProcAddress_v11030 get;
    PFN_cuInit_v2000 init;
    PFN_cuCtxCreate_v3020 create;
    PFN_cuStreamCreate_v2000 create_stream;
    CUcontext context;
    CUstream stream = NULL;
    void *symbol = dlsym(copy, "cuGetProcAddress");
    memcpy(&get, &symbol, sizeof(symbol));
    child_check(get("cuInit", (void **)&init, 11030, 0) == CUDA_SUCCESS);
    child_check(get("cuCtxCreate", (void **)&create, 11030, 0) == CUDA_SUCCESS);
    child_check(get("cuStreamCreate", (void **)&create_stream, 11030, 0) == CUDA_SUCCESS);
    child_check(init(0) == CUDA_SUCCESS && create(&context, 0, 0) == CUDA_SUCCESS);
    for (int i = 0; i < 100; i++)
        child_check(create_stream(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    return stream;
}

CHILD(has_two_copies)
{
    void *copy = dlopen(getenv("TEST_FILE"), RTLD_NOW | RTLD_LOCAL);
    child_check(copy);
    fixture_setup();
    gr_resource *resource = must_register(gl_buffer_filled(16, 0));
    assert_null(gr_map(resource, stream_of_copy(copy)), GR_ERR_CUDA, -1, "a second copy, ");
    gr_resource_free(resource);
    fixture_teardown();
    return 0;
}

TEST_UNLESS(second_copy_missing(), a_second_copy_of_the_software_driver_is_reported)
{
    char path[4096], text[8192];
    set("TEST_FILE", copy_driver("libgrinterop-softcuda.so", 1, path));
    set("GR_CUDA_DRIVER", path);
    set("GR_LOG", "warning");
    int status = child_run("has_two_copies", text, sizeof(text));
    ck_assert_msg(status == 0, "%.3500s", text);
    ck_assert_msg(strstr(text, "warning: gr_cuda_load: "), "%.3500s", text);
    ck_assert_msg(strstr(text, getenv("TEST_FILE")) && strstr(text, path), "%.3500s", text);
}

/* ---- Choice of the driver -------------------------------------------------------------------- */

CHILD(takes_software)
{
    child_check(gr_cuda_load(false) == GR_OK);
    child_check(gr_cuda_is_software());
    child_check(strstr(gr_cuda_driver_path(), "libgrinterop-softcuda.so"));
    const char *path = gr_cuda_driver_path();
    /* The choice is permanent. */
    setenv("GR_CUDA_DRIVER", "/nonexistent", 1);
    child_check(gr_cuda_load(true) == GR_OK);
    child_check(gr_cuda_driver_path() == path);
    return 0;
}

TEST(the_driver_name_soft_selects_the_software_driver_silently)
{
    char text[1024];
    set("GR_CUDA_DRIVER", "soft");
    ck_assert_int_eq(child_run("takes_software", text, sizeof(text)), 0);
    /* The driver was requested explicitly, so nothing is logged. */
    ck_assert_int_eq(lines_of_grinterop(text), 0);
}

/* Whether there is a CUDA driver for GPUs. CUDA_VISIBLE_DEVICES may hide its GPUs. */
static bool has_real_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return driver;
}

CHILD(refuses_without_gpu)
{
    child_check(gr_cuda_load(false) == GR_ERR_NO_DRIVER);
    assert_error(GR_ERR_NO_DRIVER, has_real_driver() ? CUDA_ERROR_NO_DEVICE : 0, "libcuda.so.1");
    child_check(!gr_cuda());
    child_check(!gr_egl_create(NULL));
    assert_error(GR_ERR_NO_DRIVER, -1, "libcuda.so.1");
    return 0;
}

CHILD(falls_back_without_gpu)
{
    child_check(gr_cuda_load(false) == GR_ERR_NO_DRIVER);
    gr_clear_error();
    child_check(gr_cuda_load(true) == GR_OK);
    child_check(gr_last_error()->status == GR_OK);
    child_check(gr_cuda_is_software());
    child_check(gr_cuda());
    child_check(gr_cuda_load(true) == GR_OK);
    return 0;
}

TEST(without_a_gpu_the_software_driver_is_used_only_if_allowed)
{
    char text[2048];
    set("GR_CUDA_DRIVER", NULL);
    set("CUDA_VISIBLE_DEVICES", "-1");
    /* With GR_SOFT_DEVICES, CUDA_VISIBLE_DEVICES would hide the software devices, too. */
    set("GR_SOFT_DEVICES", NULL);
    expect_child("refuses_without_gpu");
    int status = child_run("falls_back_without_gpu", text, sizeof(text));
    ck_assert_msg(status == 0, "%s", text);
    ck_assert_msg(strstr(text, "using the software CUDA driver"), "\"%s\"", text);
    ck_assert_msg(lines_of_grinterop(text) == 1, "\"%s\"", text);
}

CHILD(takes_either)
{
    child_check(gr_cuda_load(true) == GR_OK);
    child_check(gr_cuda_is_software());
    return 0;
}

/*
 * Catches: the library logged the missing GPU driver as an error, although it used another driver.
 */
TEST(falling_back_to_the_software_driver_logs_no_error)
{
    static const char *const levels[] = {"error", "debug"};
    set("GR_CUDA_DRIVER", NULL);
    set("CUDA_VISIBLE_DEVICES", "-1");
    set("GR_SOFT_DEVICES", NULL);
    for (int debug = 0; debug < 2; debug++) {
        char text[4096];
        set("GR_LOG", levels[debug]);
        ck_assert_int_eq(child_run("takes_either", text, sizeof(text)), 0);
        ck_assert_msg(strstr(text, "using the software CUDA driver"), "\"%s\"", text);
        ck_assert_msg(!strstr(text, "grinterop error"), "\"%s\"", text);
        ck_assert_msg(!strstr(text, "The CUDA driver libcuda.so.1") == !debug, "\"%s\"", text);
    }
}

TEST(an_empty_driver_name_has_no_effect)
{
    set("GR_CUDA_DRIVER", "");
    set("CUDA_VISIBLE_DEVICES", "-1");
    expect_child("refuses_without_gpu");
}

GROUP("symbols", add_environment_case)

static void *address_of(const void *function, size_t size)
{
    void *address = NULL;
    memcpy(&address, function, size);
    return address;
}

#define ADDRESS(function) address_of(&fx.cu->function, sizeof(fx.cu->function))

TEST(cuda_symbol_returns_the_function_of_a_version)
{
    ck_assert_ptr_eq(cuda_symbol("cuMemAlloc", 3020), ADDRESS(MemAlloc));
    ck_assert_ptr_eq(cuda_symbol("cuCtxCreate", 3020), ADDRESS(CtxCreate));
    ck_assert_ptr_ne(cuda_symbol("cuCtxCreate", 12050), ADDRESS(CtxCreate));
    ck_assert_ptr_ne(cuda_symbol("cuMemAlloc", 2000), NULL);
    PFN_cuDriverGetVersion_v2020 get_version = NULL;
    void *symbol = cuda_symbol("cuDriverGetVersion", 2020);
    memcpy(&get_version, &symbol, sizeof(symbol));
    int version = 0;
    ck_assert_int_eq(get_version(&version), CUDA_SUCCESS);
    ck_assert_int_ge(version, 11020);

    gr_clear_error();
    ck_assert_ptr_eq(cuda_symbol("cuNoSuchFunction", 12000), NULL);
    ck_assert_ptr_eq(cuda_symbol("", 12000), NULL);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

/*
 * The table has a pointer even for a function that the driver lacks. Calling that function returns
 * an error.
 */
TEST(a_function_missing_in_the_driver_returns_not_supported)
{
    ck_assert(GR_CUDA_HAS(fx.cu, MemAlloc));
    gr_cuda_api table = *fx.cu;
    gr_cuda_set(&table, &table.MemAlloc, NULL);
    ck_assert(!GR_CUDA_HAS(&table, MemAlloc));
    CUdeviceptr pointer = 0;
    ck_assert_int_eq(table.MemAlloc(&pointer, 16), CUDA_ERROR_NOT_SUPPORTED);
}

#define SAME(name, version, type)                                                                  \
    ck_assert_msg(gr_cuda()->name, "cu%s", #name);                                                 \
    if (GR_CUDA_HAS(gr_cuda(), name))                                                              \
        ck_assert_msg(cuda_symbol("cu" #name, version) == ADDRESS(name), "cu%s", #name);

TEST(each_function_of_the_table_is_loaded)
{
    GR_CUDA_FUNCTIONS(SAME)
}

/* ---- Several threads ------------------------------------------------------------------------- */

#define THREADS 8

static pthread_barrier_t start;

static void *load(void *user)
{
    pthread_barrier_wait(&start);
    const gr_cuda_api **found = user;
    *found = gr_cuda_load(true) == GR_OK ? gr_cuda() : NULL;
    return NULL;
}

CHILD(loads_once)
{
    pthread_t threads[THREADS];
    const gr_cuda_api *found[THREADS] = {NULL};
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        child_check(pthread_create(&threads[i], NULL, load, &found[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        child_check(found[i] && found[i] == gr_cuda());
    int count = 0;
    child_check(gr_cuda()->DeviceGetCount(&count) == CUDA_SUCCESS && count > 0);
    return 0;
}

TEST(threads_that_load_at_once_get_the_same_table)
{
    for (int i = 0; i < 3; i++)
        expect_child("loads_once");
}

GROUP("GR_LOG", add_environment_case)

/*
 * Causes one error message. It also loads the driver, which causes one message about the choice of
 * the driver.
 */
CHILD(speaks)
{
    unsigned flags = 0;
    child_check(gr_cuda_load(false) == GR_OK);
    child_check(gr_flags_parse("nonsense", &flags) == GR_ERR_INVALID_VALUE);
    return 0;
}

CHILD(speaks_elsewhere)
{
    unsigned flags = 0;
    gr_log_remove(NULL, NULL);
    child_check(gr_cuda_load(false) == GR_OK);
    child_check(gr_flags_parse("nonsense", &flags) == GR_ERR_INVALID_VALUE);
    gr_log_add(GR_LOG_ERROR, NULL, NULL);
    child_check(gr_flags_parse("rubbish", &flags) == GR_ERR_INVALID_VALUE);
    return 0;
}

TEST(gr_log_selects_the_messages)
{
    static const struct {
        const char *value;
        bool error, choice;
    } levels[] = {
        {NULL, false, false},   {"", false, false},       {"none", false, false},
        {"error", true, false}, {"warning", true, false}, {"info", true, true},
        {"debug", true, true},  {"DEBUG", true, true},
    };
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        char text[8192];
        set("GR_LOG", levels[i].value);
        ck_assert_int_eq(child_run("speaks", text, sizeof(text)), 0);
        const char *value = levels[i].value ? levels[i].value : "unset";
        ck_assert_msg((strstr(text, "nonsense") != NULL) == levels[i].error, "%s: %s", value, text);
        ck_assert_msg((strstr(text, "the CUDA driver ") != NULL) == levels[i].choice, "%s: %s",
                      value, text);
        ck_assert_msg(levels[i].error || lines_of_grinterop(text) == 0, "%s: %s", value, text);
    }
}

TEST(an_invalid_gr_log_is_reported)
{
    char text[8192];
    set("GR_LOG", "verbose");
    ck_assert_int_eq(child_run("speaks", text, sizeof(text)), 0);
    ck_assert_msg(strstr(text, "GR_LOG is \"verbose\"") &&
                      strstr(text, "but must be none, error, warning, info or debug"),
                  "%s", text);
    ck_assert_msg(lines_of_grinterop(text) == 1, "%s", text);
}

TEST(the_program_overrides_gr_log)
{
    char text[8192];
    set("GR_LOG", "error");
    ck_assert_int_eq(child_run("speaks_elsewhere", text, sizeof(text)), 0);
    ck_assert_msg(!strstr(text, "nonsense"), "%s", text);
    ck_assert_msg(strstr(text, "rubbish"), "%s", text);
}
