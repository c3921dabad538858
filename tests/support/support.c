/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The fixture of all test programs, with its kernels and gates; see support.h. */
#define _GNU_SOURCE
#include "support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grinterop/tensor.h>

#include "examples/support/kernel_image.h"

KERNEL_IMAGE(test_kernels);

#define MOST_GATES 16
#define MOST_FDS   256

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t opener;
    bool has_opener;
    unsigned delay_ms;
    bool open;
};

struct fixture fx;
bool fixture_ends_context;

static struct gate gates[MOST_GATES];
static int gate_count;
static CUmodule kernels;

/* ---- Kernels --------------------------------------------------------------------------------- */

const char *kernels_load(void)
{
#if defined(__clang__) && defined(SANITIZER)
    return "clang links its sanitizers into the program, where kernels do not find them";
#endif
    if (kernels)
        return NULL;
    if ((gr_cuda_is_software() ? test_kernels_image.host : test_kernels_image.gpu)[0] == 0)
        return gr_cuda_is_software() ? "the kernels were not built for the software driver"
                                     : "the kernels were not built for a GPU (no nvcc)";
    ck_assert(kernel_image_load(&test_kernels_image, &kernels));
    return NULL;
}

const char *failing_kernels_missing(void)
{
    const char *missing = kernels_load();
    if (missing || gr_cuda_is_software() || getenv("GR_TEST_FAULTS"))
        return missing;
    return "a failed kernel may break later OpenGL contexts; GR_TEST_FAULTS=1 runs it";
}

static void launch(const char *name, size_t size, CUstream stream, void **parameters)
{
    CUfunction function = NULL;
    CU(ModuleGetFunction(&function, kernels, name));
    CU(LaunchKernel(function, (unsigned)((size + 255) / 256), 1, 1, 256, 1, 1, 0, stream,
                    parameters, NULL));
}

void kernel_fill_pattern(CUdeviceptr out, size_t size, unsigned seed, CUstream stream)
{
    unsigned long long count = size;
    launch("fill_pattern", size, stream, (void *[]){&out, &count, &seed});
}

void kernel_add_one(CUdeviceptr bytes, size_t size, CUstream stream)
{
    unsigned long long count = size;
    launch("add_one", size, stream, (void *[]){&bytes, &count});
}

void kernel_copy(CUdeviceptr out, CUdeviceptr in, size_t size, CUstream stream)
{
    unsigned long long count = size;
    launch("copy", size, stream, (void *[]){&out, &in, &count});
}

void kernel_fail(CUstream stream)
{
    unsigned long long assertion = 0;
    Dl_info driver;
    if (gr_cuda_is_software()) {
        ck_assert(dladdr(*(void **)&fx.cu->LaunchKernel, &driver));
        void *file = dlopen(driver.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        ck_assert_ptr_nonnull(file);
        assertion = (uintptr_t)dlsym(file, "gr_softcuda_assert");
        dlclose(file);
    }
    launch("fail", 1, stream, (void *[]){&assertion});
}

/* ---- Gates ----------------------------------------------------------------------------------- */

void sleep_ms(unsigned ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void wait_for_flag(pthread_mutex_t *lock, pthread_cond_t *changed, const bool *flag, unsigned ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(lock);
    while (!*flag && pthread_cond_timedwait(changed, lock, &until) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(lock);
}

static void CUDA_CB wait_at(void *user)
{
    struct gate *gate = user;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

struct gate *gate_put(CUstream stream)
{
    ck_assert_int_lt(gate_count, MOST_GATES);
    struct gate *gate = &gates[gate_count++];
    *gate = (struct gate){.open = false};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
    CU(LaunchHostFunc(stream, wait_at, gate));
    return gate;
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

bool gate_is_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    bool open = gate->open;
    pthread_mutex_unlock(&gate->lock);
    return open;
}

static void *open_later(void *user)
{
    struct gate *gate = user;
    wait_for_flag(&gate->lock, &gate->changed, &gate->open, gate->delay_ms);
    gate_open(gate);
    return NULL;
}

struct gate *gate_open_after(struct gate *gate, unsigned ms)
{
    gate->delay_ms = ms;
    ck_assert_int_eq(pthread_create(&gate->opener, NULL, open_later, gate), 0);
    gate->has_opener = true;
    return gate;
}

void gates_open(void)
{
    for (int i = 0; i < gate_count; i++)
        gate_open(&gates[i]);
    for (int i = 0; i < gate_count; i++) {
        if (gates[i].has_opener)
            pthread_join(gates[i].opener, NULL);
        gates[i].has_opener = false;
    }
}

/* Frees the gates. No stream may wait at a gate any more. */
static void end_gates(void)
{
    for (int i = 0; i < gate_count; i++) {
        pthread_cond_destroy(&gates[i].changed);
        pthread_mutex_destroy(&gates[i].lock);
    }
    gate_count = 0;
}

/* LeakSanitizer calls this when the process ends. */
bool leaves_all_open;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return leaves_all_open;
}

/* ---- The fixture ----------------------------------------------------------------------------- */

#define FD_NAME 256

/* The file behind a descriptor, as a path or as "/memfd:NAME (deleted)". */
static void fd_name(int fd, char name[FD_NAME])
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, name, FD_NAME - 1);
    name[length > 0 ? length : 0] = '\0';
}

/*
 * Mesa 25 may open a memory file for a display at any time, and keeps it open. A thread of Mesa
 * writes compiled shaders to files.
 */
static bool is_mesa_file(const char *name)
{
    return strncmp(name, "/memfd:allocation fd", 20) == 0 || strstr(name, "/mesa_shader_cache");
}

/* The NVIDIA driver opens the device file of a GPU on first use and may close it at any time. */
static bool is_nvidia_file(const char *name)
{
    return strncmp(name, "/dev/nvidia", 11) == 0 && name[11] >= '0' && name[11] <= '9';
}

int open_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    ck_assert(folder);
    int count = -1; /* does not count the descriptor of the folder itself */
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char name[FD_NAME] = "";
        if (readlinkat(dirfd(folder), entry->d_name, name, sizeof(name) - 1) >= 0 &&
            !is_mesa_file(name) && !is_nvidia_file(name))
            count++;
    }
    closedir(folder);
    return count;
}

/* `collects`: meanwhile ends what was freed, as a later call would. */
static bool fds_become(int count, bool collects)
{
    for (int ms = 0; ms < 5000 && open_fds() != count; ms++) {
        sleep_ms(1);
        if (collects)
            gr_tensor_collect(0);
    }
    return open_fds() == count;
}

bool open_fds_become(int count)
{
    return fds_become(count, false);
}

int device_past_last(char *text, size_t size)
{
    int count = 0;
    CU(DeviceGetCount(&count));
    snprintf(text, size, "CUDA device %d", count);
    return count;
}

/*
 * The file behind each descriptor before a case. Messages use these files to name descriptors that
 * the case left open or closed.
 */
static char fd_names[MOST_FDS][FD_NAME], changed_fds[1024];

static const char *name_changed_fds(void)
{
    size_t used = 0;
    changed_fds[0] = '\0';
    for (int fd = 0; fd < MOST_FDS && used + 160 < sizeof(changed_fds); fd++) {
        char name[FD_NAME];
        fd_name(fd, name);
        if (strcmp(name, fd_names[fd]) != 0)
            used += (size_t)snprintf(changed_fds + used, sizeof(changed_fds) - used,
                                     " %d was \"%.63s\", is \"%.63s\"", fd, fd_names[fd], name);
    }
    return changed_fds;
}

void uuid_text(const void *uuid, char text[41])
{
    const unsigned char *u = uuid;
    snprintf(text, 41, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
             u[14], u[15]);
}

int fixture_cuda_device(void)
{
    const char *number = getenv("GR_TEST_CUDA_DEVICE");
    return number ? atoi(number) : 0;
}

static int drawing_device;

void fixture_draw_on(int device)
{
    drawing_device = device;
}

int fixture_drawing_device(void)
{
    return drawing_device;
}

static char differences[3000]; /* Check cannot handle longer messages */

void note_difference(const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    size_t used = strlen(differences);
    snprintf(differences + used, sizeof(differences) - used, "\n  %s", line);
}

static char kept_log[1 << 15]; /* each line after the digit of its level */

static void keep_line(void *user, gr_log_level level, const char *line)
{
    const size_t used = strlen(kept_log);
    (void)user;
    snprintf(kept_log + used, sizeof(kept_log) - used, "%d%s\n", (int)level, line);
}

void log_begin(gr_log_level level)
{
    kept_log[0] = '\0';
    assert_ok(gr_log_add(level, keep_line, NULL));
}

void log_end(void)
{
    gr_log_remove(keep_line, NULL);
}

const char *log_text(void)
{
    return kept_log;
}

int log_count(gr_log_level level, const char *part)
{
    int count = 0;
    for (const char *line = kept_log, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *found = strstr(line, part);
        count += *line == '0' + (int)level && found && found < end;
    }
    return count;
}

void fixture_setup(void)
{
    differences[0] = '\0';
    fx = (struct fixture){.fds = open_fds()};
    for (int fd = 0; fd < MOST_FDS; fd++)
        fd_name(fd, fd_names[fd]);
    gate_count = 0;
    kernels = NULL;
    assert_ok(gr_cuda_load(true));
    fx.cu = must_make(gr_cuda());
    fx.egl = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = drawing_device)));
    CU(DeviceGet(&fx.device, fixture_cuda_device()));
    CU(DevicePrimaryCtxRetain(&fx.context, fx.device));
    CU(CtxSetCurrent(fx.context));
    CU(StreamCreate(&fx.stream, CU_STREAM_NON_BLOCKING));
    CU(StreamCreate(&fx.other, CU_STREAM_NON_BLOCKING));
    gr_clear_error();
}

static void check_gl(void)
{
    assert_ok(gr_egl_make_current(fx.egl));
    GLenum error = glGetError();
    while (error != GL_NO_ERROR && glGetError() != GL_NO_ERROR)
        continue;
    ck_assert_msg(error == GL_NO_ERROR, "OpenGL error 0x%04x is pending after the case", error);
}

void fixture_teardown(void)
{
    log_end();
    gates_open();
    CU(CtxSetCurrent(fx.context));
    CU(CtxSynchronize());
    end_gates();
    check_gl();
    gr_tensor_collect(1000); /* ends what was freed while work still used it */
    CUmodule loaded = kernels;
    kernels = NULL;
    if (loaded)
        CU(ModuleUnload(loaded));
    CU(StreamDestroy(fx.stream));
    CU(StreamDestroy(fx.other));
    CU(CtxSetCurrent(NULL));
    if (fixture_ends_context && gr_cuda_is_software())
        CU(DevicePrimaryCtxReset(fx.device));
    CU(DevicePrimaryCtxRelease(fx.device));
    gr_egl_free(fx.egl);
    /* a case may have freed a resource of another context, whose work is not awaited above */
    ck_assert_msg(fx.fds < 0 || fds_become(fx.fds, true), "%d descriptors are open, not %d:%s",
                  open_fds(), fx.fds, name_changed_fds());
    ck_assert_msg(differences[0] == '\0', "%s", differences);
}

gr_status release_on(gr_buffer *buffer, CUstream stream)
{
    return gr_buffer_release_many(&buffer, 1, stream, NULL);
}
