/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds and loads the CUDA driver at run time, so that a program linked with grinterop also starts
 * on a machine without a driver. Error messages name the files that were tried.
 */
#include "lib/cuda/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cuda_error_text.h"
#include "lib/base/error.h"
#include "lib/base/public_atomic.h"
#include "lib/base/fork.h"
#include "lib/base/loader.h"
#include "lib/base/log.h"
#include "lib/base/machine.h"
#include "lib/base/lock.h"

/* Remedies for a file that is not a driver, and for a driver that does not start. */
struct advice {
    const char *file, *start;
};

/*
 * Advice about the GPU driver if the software driver is tried next. `start` is empty, because
 * load_any() appends the error message of the software driver.
 */
static const struct advice before_software = {"Install NVIDIA's current driver.", ""};
static const struct advice for_software = {"Install grinterop again: this file belongs to it.", ""};

#ifdef GR_WITHOUT_SOFTCUDA
static const struct advice real_only = {
    "Install NVIDIA's current driver, or name another file in GR_CUDA_DRIVER.", ""};
static const struct advice for_named = {
    "Name another file in GR_CUDA_DRIVER, or unset it for " GR_REAL_DRIVER ".", ""};
#define for_named_real real_only
#else
#define SOFTWARE_INSTEAD " GR_CUDA_DRIVER=soft selects the software CUDA driver."
static const struct advice real_only = {
    "Install NVIDIA's current driver, name another file in GR_CUDA_DRIVER, or use the software "
    "CUDA driver: by GR_CUDA_DRIVER=soft, or by gr_cuda_load(true) in the program.",
    SOFTWARE_INSTEAD};
static const struct advice for_named = {
    "Name another file in GR_CUDA_DRIVER, unset it for " GR_REAL_DRIVER
    ", or set it to soft for the software CUDA driver.",
    SOFTWARE_INSTEAD};
static const struct advice for_named_real = {
    "Install NVIDIA's current driver, name another file in GR_CUDA_DRIVER, or set it to soft for "
    "the software CUDA driver.",
    SOFTWARE_INSTEAD};
#endif

#define SOFT_DRIVER "libgrinterop-softcuda.so"
#define SOFT_SYMBOL "gr_softcuda_version"

/* Looks up symbols in a library before it is accepted as a driver. */
struct library {
    void *handle;
    CUresult(CUDAAPI *proc_address_v2)(const char *, void **, int, uint64_t,
                                       CUdriverProcAddressQueryResult *);
    CUresult(CUDAAPI *proc_address)(const char *, void **, int, uint64_t);
};

/*
 * These variables are written under the lock until gr_driver_table is set, and constant afterwards.
 */
static struct gr_lock load_lock = GR_LOCK(DRIVER_LOAD);
static struct library library;
static struct gr_driver_api api;
static char driver_path[GR_PATH_SIZE];
const struct gr_driver_api *_Atomic gr_driver_table;

static const struct gr_driver_traits nvidia_traits = {
    .note = "",
    .copy_types = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST,
                   CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY},
};
static const struct gr_driver_traits software_traits = {
    .note = " (software CUDA driver)",
    .copy_types = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST,
                   CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_ARRAY},
    .host_memory = true,
    .host_kernels = true,
    .refuses_destroyed = true,
    .creates_semaphores = true,
    .mesa_draws = true,
    .own_uuid = "libgrinterop-sof",
};
const struct gr_driver_traits *_Atomic gr_driver_traits_loaded = &nvidia_traits;

static void *function_of(void *pointer_to_object, void *result)
{
    /* The loader returns function pointers as object pointers; C has no cast between the two. */
    memcpy(result, &pointer_to_object, sizeof(pointer_to_object));
    return pointer_to_object;
}

static void *find_symbol(const struct library *lib, const char *name, int version, uint64_t flags)
{
    void *symbol = NULL;
    CUdriverProcAddressQueryResult found;
    if (lib->proc_address_v2) {
        if (lib->proc_address_v2(name, &symbol, version, flags, &found) != CUDA_SUCCESS)
            return NULL;
        return symbol;
    }
    if (lib->proc_address)
        return lib->proc_address(name, &symbol, version, flags) == CUDA_SUCCESS ? symbol : NULL;
    /*
     * A driver without cuGetProcAddress is older than CUDA 11.3. If such a driver has a _v2 variant
     * of a function, the table needs that variant, which is older than CUDA 11.2.
     */
    char second[96];
    snprintf(second, sizeof(second), "%s_v2", name);
    symbol = gr_loader_symbol(lib->handle, second);
    return symbol ? symbol : gr_loader_symbol(lib->handle, name);
}

/*
 * Fills the table. Returns the name of the first required function that is missing; NULL if none is
 * missing.
 */
static const char *fill_api(const struct library *lib, struct gr_driver_api *table)
{
    table->missing = gr_driver_missing;
#define FILL(name, version, parameters)                                                            \
    gr_driver_set(table, &table->name, find_symbol(lib, "cu" #name, version, 0));
#define REQUIRE(name, version, parameters)                                                         \
    FILL(name, version, parameters)                                                                \
    if (!GR_DRIVER_HAS(table, name))                                                               \
        return "cu" #name;
    GR_DRIVER_FUNCTIONS(REQUIRE, FILL)
#undef REQUIRE
#undef FILL
    return NULL;
}

/* Tries to load one file. If it is a working driver, sets the static variables above. */
static gr_status load_file(const char *path, const struct advice *advice)
{
    char why[512];
    struct library lib = {.handle = gr_loader_open(path, why, sizeof(why))};
    if (!lib.handle)
        return gr_fail_code(GR_ERR_NO_DRIVER, GR_DOMAIN_NONE, 0, NULL, GR_LOADER_CALL,
                            "The CUDA driver %s could not be loaded: %s. %s", path, why,
                            advice->file);
    function_of(gr_loader_symbol(lib.handle, "cuGetProcAddress_v2"), &lib.proc_address_v2);
    function_of(gr_loader_symbol(lib.handle, "cuGetProcAddress"), &lib.proc_address);
    const char *missing = fill_api(&lib, &api);
    if (missing) {
        gr_loader_close(lib.handle);
        return gr_fail_code(
            GR_ERR_NO_DRIVER, GR_DOMAIN_NONE, 0, NULL, "cuGetProcAddress",
            "%s is not a CUDA driver that grinterop can use: it has no %s. CUDA 11.2 or "
            "newer is needed. %s",
            path, missing, advice->file);
    }
    CUresult code = api.Init(0);
    if (code != CUDA_SUCCESS) {
        const char *name = NULL;
        gr_init_advise(code, why, sizeof(why));
        api.GetErrorName(code, &name);
        gr_fail_code(GR_ERR_NO_DRIVER, GR_DOMAIN_CUDA, (int)code, name, "cuInit",
                     "The CUDA driver %.200s was loaded but does not start. %s%s", path, why,
                     advice->start);
        gr_loader_close(lib.handle);
        return GR_ERR_NO_DRIVER;
    }
    library = lib;
    if (gr_loader_symbol(lib.handle, SOFT_SYMBOL))
        atomic_store_explicit(&gr_driver_traits_loaded, &software_traits, memory_order_relaxed);
    snprintf(driver_path, sizeof(driver_path), "%s", path);
    return GR_OK;
}

bool gr_driver_find_file(const char *name, char *path, size_t size)
{
    static const char *const below[] = {"/grinterop", ""};
    char beside[GR_PATH_SIZE];
    gr_loader_own_folder(beside, sizeof(beside));
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
        if (snprintf(path, size, "%s%s/%s", beside, below[i], name) < (int)size &&
            gr_loader_can_read(path))
            return true;
    return snprintf(path, size, "%s/%s", GR_PKGLIBDIR, name) < (int)size &&
           gr_loader_can_read(path);
}

/*
 * Returns the path of the software driver if the process has already loaded it, under any name. If
 * the program did, its memory and streams belong to that file. `except`: see gr_loader_loaded().
 */
static bool software_is_loaded(const void *except, char *path, size_t size)
{
    return gr_loader_loaded(SOFT_SYMBOL, except, path, size);
}

static gr_status load_software(void)
{
    char path[GR_PATH_SIZE];
    if (software_is_loaded(NULL, path, sizeof(path)))
        return load_file(path, &for_software);
#ifdef GR_WITHOUT_SOFTCUDA
    return gr_fail_code(
        GR_ERR_NO_DRIVER, GR_DOMAIN_NONE, 0, NULL, "gr_cuda_load",
        "This grinterop was built without the software CUDA driver. Name a driver's file in "
        "GR_CUDA_DRIVER, or leave it unset for " GR_REAL_DRIVER ".");
#else
    char beside[GR_PATH_SIZE];
    if (gr_driver_find_file(SOFT_DRIVER, path, sizeof(path)))
        return load_file(path, &for_software);
    gr_loader_own_folder(beside, sizeof(beside));
    return gr_fail_code(
        GR_ERR_NO_DRIVER, GR_DOMAIN_NONE, 0, NULL, GR_LOADER_CALL,
        "The software CUDA driver " SOFT_DRIVER
        " was not found in the library's folder (%.250s), in its subfolder grinterop, "
        "or in " GR_PKGLIBDIR ". Install it with grinterop, or name the file in GR_CUDA_DRIVER.",
        beside);
#endif
}

/*
 * Loads the GPU driver, or else the software driver. If both fail, the recorded class, code and
 * call are those of the GPU driver, and the message contains the reasons of both.
 */
static gr_status load_one(void *of, size_t i)
{
    struct gr_error_record *real = of, soft;
    if (i == 0)
        return load_file(GR_REAL_DRIVER, &before_software);
    if (load_software() == GR_OK) {
        fprintf(stderr, "grinterop: no CUDA GPU here (%s: %s); using the software CUDA driver.\n",
                GR_REAL_DRIVER, real->code_name[0] ? real->code_name : "not found");
        return GR_OK;
    }
    gr_error_save(&soft);
    return gr_fail_code(GR_ERR_NO_DRIVER, real->domain, real->code, real->code_name, real->call,
                        "%s %s", real->message, soft.message);
}

static bool keep_first(void *of, size_t i, const struct gr_error_record *error)
{
    if (i == 0)
        *(struct gr_error_record *)of = *error;
    return true;
}

static gr_status load_any(void)
{
    struct gr_error_record real;
    return gr_try(2, load_one, keep_first, &real);
}

static gr_status choose(bool allow_software)
{
    char path[GR_PATH_SIZE];
    const char *wanted = gr_machine_setting("GR_CUDA_DRIVER");
    if (wanted && strcmp(wanted, "soft") == 0)
        return load_software();
    if (wanted && *wanted)
        return load_file(wanted,
                         strcmp(wanted, GR_REAL_DRIVER) == 0 ? &for_named_real : &for_named);
    if (software_is_loaded(NULL, path, sizeof(path)))
        return load_file(path, &for_software);
    return allow_software ? load_any() : load_file(GR_REAL_DRIVER, &real_only);
}

void gr_driver_second_copy(char *text, size_t size)
{
    char path[GR_PATH_SIZE];
    const void *used = gr_loader_symbol(library.handle, SOFT_SYMBOL);
    text[0] = '\0';
    if (used && software_is_loaded(used, path, sizeof(path)))
        snprintf(text, size,
                 " grinterop uses the software driver %.200s, but the process has loaded a second "
                 "copy, %.200s. Neither knows the objects of the other: set GR_CUDA_DRIVER to the "
                 "file that the program uses.",
                 driver_path, path);
}

gr_status gr_cuda_load(bool allow_software)
{
    GR_CALL();
    char copies[GR_COPIES_SIZE];
    gr_status status = gr_fork_check();
    if (status != GR_OK || gr_driver())
        return status;
    GR_LOCKED(&load_lock);
    if (!gr_driver()) {
        status = choose(allow_software);
        if (status == GR_OK) {
            gr_loader_stay();
            atomic_store_explicit(&gr_driver_table, &api, memory_order_release);
            gr_log(GR_LOG_INFO, "using the CUDA driver %s", driver_path);
            gr_driver_second_copy(copies, sizeof(copies));
            if (copies[0])
                gr_log(GR_LOG_WARNING, "%s:%s", __func__, copies);
        }
    }
    return status;
}

const struct gr_driver_api *gr_driver_load(void)
{
    if (gr_driver() && !gr_forked) /* the usual case */
        return &api;
    return gr_cuda_load(false) == GR_OK ? &api : NULL;
}

bool gr_cuda_is_software(void)
{
    return gr_driver_traits() == &software_traits;
}

const char *gr_cuda_driver_path(void)
{
    return gr_driver() ? driver_path : "";
}

static void *find_loaded(const char *name, int version, uint64_t flags)
{
    return find_symbol(&library, name, version, flags);
}

const void *gr_cuda_table(void **made, gr_cuda_fill_fn fill, void *table)
{
    GR_CALL();
    static struct gr_lock lock = GR_LOCK(DRIVER_TABLES);
    if (!made || !fill || !table)
        return gr_null(gr_fail(GR_ERR_INVALID_VALUE, "An argument is NULL: call gr_cuda()."));
    if (!gr_driver_load())
        return NULL;
    GR_LOCKED(&lock);
    if (!*made) {
        fill(table, find_loaded);
        atomic_store_explicit(GR_PUBLIC_ATOMIC(void *, *made), table, memory_order_release);
    }
    return table;
}

void *gr_driver_export(const char *name)
{
    return gr_driver() ? gr_loader_symbol(library.handle, name) : NULL;
}

const char *gr_cuda_error_name(CUresult code)
{
    const char *name = NULL;
    const struct gr_driver_api *cu = gr_driver();
    if (!cu || cu->GetErrorName(code, &name) != CUDA_SUCCESS || !name)
        return "CUDA_ERROR (unknown name)";
    return name;
}

static gr_status fail_list(CUresult code, const char *call, const char *advice, const char *format,
                           va_list arguments)
{
    struct gr_error_record shape;
    char sentence[sizeof(shape.message)];
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    return gr_fail_code(GR_ERR_CUDA, GR_DOMAIN_CUDA, (int)code, gr_cuda_error_name(code), call,
                        "%s%s", sentence, advice);
}

gr_status gr_fail_cuda(CUresult code, const char *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gr_status status = fail_list(code, call, gr_cuda_advice(code), format, arguments);
    va_end(arguments);
    return status;
}

gr_status gr_fail_work(CUresult code, const char *call, const char *format, ...)
{
    va_list arguments;
    const char *advice = gr_cuda_advice(code);
    if (!*advice)
        advice = " The error may come from earlier work on the stream.";
    va_start(arguments, format);
    gr_status status = fail_list(code, call, advice, format, arguments);
    va_end(arguments);
    return status;
}
