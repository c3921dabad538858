/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What all test programs share: a fixture (CUDA driver, headless OpenGL context, two streams),
 * checks of errors and bytes, gates that block a stream, children for cases that end a process, and
 * main().
 *
 * All cases run in one process, because a CUDA context does not survive a fork. A case that ends
 * its process runs in a child process, for which the program starts itself again, see child_run().
 */
#ifndef GR_TESTS_SUPPORT_H
#define GR_TESTS_SUPPORT_H

#include "error_class.h"
#include "support_cuda.h"

#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <check.h>
#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/gr.h>

/*
 * Check notes in a file each assertion that holds, to tell where a case in its own process
 * crashed. These cases share one process, and the notes took up to 40 % of its CPU time.
 */
#define _mark_point(file, line) ((void)0)

/* Of two failures of a case, the second is often one of its teardown, and Check reports only it. */
#define _ck_assert_failed case_fails
void case_fails(const char *file, int line, const char *expression, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* ---- The fixture ----------------------------------------------------------------------------- */

/*
 * The environment of each case: a current OpenGL context, the current primary context, two streams.
 * OpenGL renders on CUDA device 0. CUDA computes on device GR_TEST_CUDA_DEVICE, by default on
 * device 0 too.
 */
struct fixture {
    const gr_cuda_api *cu;
    gr_egl *egl;
    CUdevice device;   /* the device that computes */
    CUcontext context; /* its primary context */
    CUstream stream;   /* both streams are non-blocking: the legacy stream does not order them */
    CUstream other;
    int fds; /* number of open descriptors before the set-up; -1: the teardown does not compare */

    /* In a case of add_resource_case(): a buffer object and its registration. */
    GLuint name;
    gr_resource *resource;
};

extern struct fixture fx;

/*
 * For tcase_add_checked_fixture(), which add_case() calls. The teardown opens all gates and checks
 * that the driver reports no error, that no OpenGL error is pending and that no file descriptor was
 * left open.
 */
void fixture_setup(void);
void fixture_teardown(void);
/* Whether the teardown destroys what a case left in the primary context of the software driver. */
extern bool fixture_ends_context;

/* The number of the CUDA device that computes. */
int fixture_cuda_device(void);

/* For children: OpenGL and Vulkan render on this CUDA device from the next set-up on. */
void fixture_draw_on(int device);
int fixture_drawing_device(void);

/* Writes a UUID in the format of CUDA and its tools, "GPU-01234567-...". */
void uuid_text(const void *uuid, char text[41]);

/* Adds to the suite a case that runs with the fixture. */
TCase *add_case(Suite *suite, const char *name);

/* Adds this set-up and teardown to each test of the case. Returns the case. */
TCase *with_fixture(TCase *tcase, void (*setup)(void), void (*teardown)(void));

/*
 * Calls `use` once with the fixture before all cases. Drivers open descriptors on first use and
 * keep them, so descriptors are counted only after that call. Returns the case.
 */
TCase *with_first_use(TCase *tcase, void (*use)(void));

/*
 * Like add_case(). Each test also gets a new buffer object in fx.name, registered with
 * GR_READ_WRITE as fx.resource. A program sets the size and byte value of its buffers once.
 */
TCase *add_resource_case(Suite *suite, const char *name);
void resource_case_buffer(size_t size, int value);

/* Adds to the suite a case without a fixture. */
TCase *add_bare_case(Suite *suite, const char *name);

typedef TCase *make_case(Suite *suite, const char *name);

/* An entry that GROUP() or TEST() adds to the list of run_tests(). */
struct listed {
    const char *file;
    int line;
    const char *group;        /* NULL in an entry for a test */
    make_case *const *makers; /* ends with NULL */
    TCase *cases[7];          /* ends with NULL */
    const char *tag;          /* NULL, but in an entry of TAG() */
    const TTest *test;
    int first, count; /* the range of its _i */
    struct listed *next;
};
void list_here(struct listed *listed);

/* Sets the name that a crash or the end of the time limit prints. */
void case_begins(const char *name, int number);

/*
 * GROUP("ends", add_case): adds the tests from here to the next group of the file to a case with
 * that name. With several functions, each adds a case, and each of these cases runs all tests.
 * GROUP() with the name of an earlier group continues that group.
 */
#define GROUP(name, ...)          GROUP_AT(name, __LINE__, __VA_ARGS__)
#define GROUP_AT(name, line, ...) GROUP_OF(name, line, __VA_ARGS__)
#define GROUP_OF(title, at, ...)                                                                   \
    static make_case *const makers_##at[] = {__VA_ARGS__, NULL};                                   \
    _Static_assert(sizeof(makers_##at) <= sizeof(((struct listed *)0)->cases),                     \
                   "struct listed has room for fewer cases");                                      \
    GROUP_LIST(title, at, makers_##at)
#define GROUP_LIST(title, at, list)                                                                \
    __attribute__((constructor)) static void list_group_##at(void)                                 \
    {                                                                                              \
        static struct listed listed = {                                                            \
            .file = __FILE__, .line = at, .group = title, .makers = list};                         \
        list_here(&listed);                                                                        \
    }

/* GROUP() with an array of functions that ends with NULL, for a file that programs share. */
#define GROUP_BY(name, list)          GROUP_BY_AT(name, __LINE__, list)
#define GROUP_BY_AT(name, line, list) GROUP_LIST(name, line, list)

/*
 * TAG("bytes"): gives the group that the file has begun, with all its tests, its only tag of Check.
 * `make check` then omits it. The groups of this tag compare the bytes of many formats or sizes,
 * which depend neither on threads nor on the number of devices. The stage thread also omits the
 * groups with TAG("alone"), which call from one thread and repeat what others do: loops that count,
 * batches, faults.
 */
#define TAG(name)          TAG_AT(name, __LINE__)
#define TAG_AT(name, line) TAG_OF(name, line)
#define TAG_OF(title, at)                                                                          \
    __attribute__((constructor)) static void list_tag_##at(void)                                   \
    {                                                                                              \
        static struct listed listed = {.file = __FILE__, .line = at, .tag = title};                \
        list_here(&listed);                                                                        \
    }

/* TEST(name): a test that runs once. TEST(name, count): it runs `count` times, with _i from 0. */
#define TEST(...) TEST_OF(__VA_ARGS__, 1, 0)
#define TEST_OF(title, times, ...)                                                                 \
    static void title(int _i);                                                                     \
    static void run_##title(int i)                                                                 \
    {                                                                                              \
        case_begins(#title, i);                                                                    \
        title(i);                                                                                  \
    }                                                                                              \
    __attribute__((constructor)) static void list_##title(void)                                    \
    {                                                                                              \
        static const TTest test = {#title, run_##title, __FILE__, __LINE__};                       \
        static struct listed listed = {.file = __FILE__, .line = __LINE__, .test = &test};         \
        listed.count = (int)(times);                                                               \
        list_here(&listed);                                                                        \
    }                                                                                              \
    static void title(CK_ATTRIBUTE_UNUSED int _i)

/* ---- The program ----------------------------------------------------------------------------- */

/* START(call()): makes a call before main(), also in children. */
#define START(call)                                                                                \
    __attribute__((constructor)) static void start_program(void)                                   \
    {                                                                                              \
        call;                                                                                      \
    }

/*
 * CHILD(name) {...}: the code of the child process with that name. Returns its exit status. The
 * child "name 3" runs the same code with 3 as _i.
 */
struct child {
    const char *name;
    int (*run)(int _i);
    struct child *next;
};
void list_child(struct child *child);
#define CHILD(title)                                                                               \
    static int title(int _i);                                                                      \
    __attribute__((constructor)) static void list_child_##title(void)                              \
    {                                                                                              \
        static struct child child = {.name = #title, .run = title};                                \
        list_child(&child);                                                                        \
    }                                                                                              \
    static int title(CK_ATTRIBUTE_UNUSED int _i)

/* For with_first_use(): uses shared OpenGL storage once, if this OpenGL can share storage. */
void use_sharing(void);

/*
 * For tcase_add_checked_fixture(), after a case: creates and closes a resource, which also frees
 * resources that were closed while a stream used them.
 */
void collect_sharing(void);

/* Adds use_sharing() and collect_sharing() to a case. Returns the case. */
TCase *with_sharing(TCase *tcase);

/*
 * Prints the environment and runs the listed tests that the CK_* variables of Check select. Returns
 * the value for main(). The main() in support_start.c, for programs without their own, only calls
 * this function.
 */
int run_tests(int argc, char **argv);

/* The exit status of a child in which a check failed. */
#define CHILD_FAILED 98

/*
 * child_start() starts a child, and child_end() waits for its end: several may run at once. While
 * they run, their output goes to `output`, which holds 64 KiB. child_end() returns the same as
 * child_run().
 */
struct child_process {
    int pid, output;
};
struct child_process child_start(const char *name);
int child_end(const struct child_process *child, char *text, size_t size);

/* Starts a child without waiting for it. Returns the result of posix_spawn(). */
int child_spawn(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions);

/*
 * Runs a child that CHILD() defines in its own process and waits for it. The output of the child,
 * from both standard streams, goes to `text`, truncated to `size` bytes including the final zero.
 * Returns the status of waitpid(). A child can use the checks but has no fixture: if it needs one,
 * it calls fixture_setup() itself.
 */
int child_run(const char *name, char *text, size_t size);

/* Ends a case that cannot run on this machine: counts it as skipped and prints the reason. */
#define skip(...)                                                                                  \
    do {                                                                                           \
        skip_say(__func__, __VA_ARGS__);                                                           \
        return;                                                                                    \
    } while (0)
void skip_say(const char *function, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * TEST() that is skipped if `missing`, the reason for the skip, is not NULL. A fixture cannot skip
 * a case: without a process per case, Check's fixtures only pass or fail.
 */
#define TEST_UNLESS(missing, ...) TEST_UNLESS_OF(missing, __VA_ARGS__, 1, 0)
#define TEST_UNLESS_OF(missing, title, times, ...)                                                 \
    static void title##_body(int _i);                                                              \
    TEST(title, times)                                                                             \
    {                                                                                              \
        const char *missing_ = (missing);                                                          \
        if (missing_)                                                                              \
            skip("%s", missing_);                                                                  \
        title##_body(_i);                                                                          \
    }                                                                                              \
    static void title##_body(CK_ATTRIBUTE_UNUSED int _i)

/* The sanitizer of this program, if it replaces malloc(). Undefined without such a sanitizer. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZER "AddressSanitizer"
#elif __has_feature(thread_sanitizer)
#define SANITIZER "ThreadSanitizer"
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZER "AddressSanitizer"
#elif defined(__SANITIZE_THREAD__)
#define SANITIZER "ThreadSanitizer"
#endif

/*
 * The step of a loop over formats. A sanitizer looks at memory and threads, for which each `n`th
 * format is enough; builds without one try all.
 */
#ifdef SANITIZER
#define EACH_NTH(n) (n)
#else
#define EACH_NTH(n) 1
#endif

/* The sanitizer's name, or NULL. */
const char *sanitizer(void);

/* Calls `body` on a new thread, which has no current context, and returns its result. */
void *elsewhere(void *(*body)(void *), void *object);

/* Functions for elsewhere(). */
void *free_elsewhere(void *resource);
void *release_elsewhere(void *buffer); /* calls gr_buffer_release_later() */

/*
 * Calls `here` on this thread and `there` on another one at the same time, after `begin` has
 * created their objects. Repeats this many times.
 */
void meet(void (*begin)(void), void (*here)(void), void (*there)(void));

/* Waits until the flag of this condition is set, for at most `ms`. The caller holds the lock. */
void wait_for_flag(pthread_mutex_t *lock, pthread_cond_t *changed, const bool *flag, unsigned ms);

int open_fds(void);

/* Whether `count` descriptors are open, now or soon: a thread closes received descriptors later. */
bool open_fds_become(int count);
void sleep_ms(unsigned ms);
uint64_t monotonic_ns(void);

/* Returns the first device number that CUDA does not have. Writes "CUDA device N" to `text`. */
int device_past_last(char *text, size_t size);

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Releases one buffer on the stream, which may also be NULL or a special stream of the library. */
gr_status release_on(gr_buffer *buffer, CUstream stream);

/* Calls a driver function through the fixture's table: CU(StreamSynchronize(fx.stream)). */
#define CU(call)                 assert_result(CUDA_SUCCESS, fx.cu->call, "cu" #call)
#define CU_GIVES(expected, call) assert_result(expected, fx.cu->call, "cu" #call)

#define assert_result(expected, result, text)                                                      \
    do {                                                                                           \
        int result_ = (int)(result);                                                               \
        ck_assert_msg(result_ == (int)(expected), "%s returned %d (%s), not %d", text, result_,    \
                      result_name(result_), (int)(expected));                                      \
    } while (0)
const char *result_name(int result);

/* A grinterop call that returns a gr_status and must succeed. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        gr_status status_ = (call);                                                                \
        ck_assert_msg(status_ == GR_OK, "%s returned %s: %s", #call, gr_status_name(status_),      \
                      error_text());                                                               \
    } while (0)

/* A grinterop call that creates an object and must succeed. must_make() also returns the object. */
#define assert_made(object) ck_assert_msg((object), "%s is NULL: %s", #object, error_text())
#define must_make(call)     ((__typeof__(call))made_at(__FILE__, __LINE__, #call, call))
void *made_at(const char *file, int line, const char *call, const void *object);

/*
 * Checks the last error of this thread: the class, the code (-1: any), and that the message
 * contains the text. Clears the error, so that later checks do not see it.
 */
#define assert_error(status, code, text)                                                           \
    do {                                                                                           \
        const char *wrong_ = error_mismatch(status, code, text);                                   \
        ck_assert_msg(!wrong_, "%s", wrong_);                                                      \
    } while (0)

/* A grinterop call that returns a gr_status and must fail with this error. */
#define assert_fails(call, status, code, text)                                                     \
    do {                                                                                           \
        gr_clear_error();                                                                          \
        gr_status status_ = (call);                                                                \
        ck_assert_msg(status_ == (status), "%s returned %s, not %s", #call,                        \
                      gr_status_name(status_), gr_status_name(status));                            \
        assert_error(status, code, text);                                                          \
    } while (0)

/* A grinterop call that creates an object and must fail with this error. */
#define assert_null(call, status, code, text)                                                      \
    do {                                                                                           \
        gr_clear_error();                                                                          \
        ck_assert_msg(!(call), "%s is not NULL", #call);                                           \
        assert_error(status, code, text);                                                          \
    } while (0)

/* Like assert_fails(), for calls that must refuse an argument. */
#define assert_invalid(call, text)      assert_fails(call, GR_ERR_INVALID_VALUE, 0, text)
#define assert_null_invalid(call, text) assert_null(call, GR_ERR_INVALID_VALUE, 0, text)

const char *error_text(void);
const char *error_mismatch(gr_status status, int code, const char *text);

/* Records a difference and continues. The teardown then fails with all recorded differences. */
void note_difference(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Keep the log lines of this level and of graver ones, until log_end() or the teardown. */
void log_begin(gr_log_level level);
void log_end(void);

/* The kept lines, and how many of them have this level and contain `part`. */
const char *log_text(void);
int log_count(gr_log_level level, const char *part);

/* Checks that no OpenGL error is pending. */
#define assert_gl_clean() ck_assert_uint_eq(glGetError(), GL_NO_ERROR)

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Byte i of the pattern for this seed; the kernel `fill_pattern` writes the same bytes. */
unsigned char pattern_byte(unsigned seed, size_t i);
void pattern_fill(void *bytes, size_t size, unsigned seed);

/*
 * Describes copies of `height` rows of `width` bytes, and of `depth` slices, between packed host
 * memory and an array.
 */
CUDA_MEMCPY3D copy_to_array(CUarray array, const void *bytes, size_t width, size_t height,
                            size_t depth);
CUDA_MEMCPY3D copy_from_array(void *bytes, CUarray array, size_t width, size_t height,
                              size_t depth);

/* Checks that all bytes match the pattern, or that all bytes have one value. */
#define assert_pattern(bytes, size, seed) assert_no_difference(pattern_differs(bytes, size, seed))
#define assert_bytes(bytes, size, value)  assert_no_difference(bytes_differ(bytes, size, value))

/* Like assert_pattern() and assert_bytes(), for the contents of an OpenGL buffer. */
#define assert_gl_pattern(name, size, seed)                                                        \
    assert_no_difference(gl_pattern_differs(name, size, seed))
#define assert_gl_bytes(name, size, value) assert_no_difference(gl_bytes_differ(name, size, value))

#define assert_no_difference(call)                                                                 \
    do {                                                                                           \
        const char *difference_ = (call);                                                          \
        ck_assert_msg(!difference_, "%s: %s", #call, difference_);                                 \
    } while (0)

const char *pattern_differs(const void *bytes, size_t size, unsigned seed);
const char *bytes_differ(const void *bytes, size_t size, int value);

/* Allocates memory for bytes that are compared once. The comparison frees the memory. */
void *must_allocate(size_t size);
const char *pattern_differs_once(void *bytes, size_t size, unsigned seed);
const char *bytes_differ_once(void *bytes, size_t size, int value);
const char *gl_pattern_differs(GLuint name, size_t size, unsigned seed);
const char *gl_bytes_differ(GLuint name, size_t size, int value);

/*
 * Creates a buffer object with these bytes, or with undefined contents if `bytes` is NULL. The
 * buffer lives as long as the context.
 */
GLuint gl_buffer(const void *bytes, size_t size);
GLuint gl_buffer_pattern(size_t size, unsigned seed);
GLuint gl_buffer_filled(size_t size, int value);

/* Create an object and leave it bound. It lives as long as the context. */
GLuint bound_texture(GLenum target);
GLuint bound_renderbuffer(void);
GLuint bound_framebuffer(GLenum target);

/* Deletes a buffer, and with `again` gives its name to another one, filled with this value. */
void gl_buffer_delete(GLuint name, bool again, size_t size, int value);

/* Copies the first `size` bytes of a buffer with OpenGL, without waiting for the copy. */
void gl_copy_buffer(GLuint from, GLuint to, size_t size);

/* Makes an idle shader program current. */
void gl_use_some_program(void);

/* Reads and writes the bytes of a buffer with OpenGL. Bindings are restored. */
void gl_read(GLuint name, void *bytes, size_t size);
void gl_write(GLuint name, const void *bytes, size_t size);

/* ---- Resources ------------------------------------------------------------------------------- */

/* Options that select one transport, or any transport. */
extern const gr_gl_options by_interop, by_copy, by_sharing, by_any;

/* must_register() registers with GR_READ_WRITE, and must_map() maps on fx.stream. */
gr_resource *must_register(GLuint name);
gr_resource *must_register_as(GLuint name, unsigned flags);
gr_buffer *must_map(gr_resource *resource);
gr_buffer *must_map_on(gr_resource *resource, CUstream stream);

/* Makes a new resource use no semaphores: the test itself orders CUDA and graphics. */
gr_resource *unordered(gr_resource *resource);

/* Sets all bytes with CUDA, on the stream of the mapping. */
void cuda_fill(const gr_buffer *buffer, int value);

/* Fills a mapped buffer like cuda_fill() and releases it. fill_mapped() also maps. */
void fill_and_release(gr_buffer *buffer, int value);
void fill_mapped(gr_resource *resource, int value);

/* Copies from the device to the host in the stream, and waits for the copy. */
void cuda_read(void *to, CUdeviceptr from, size_t size, CUstream stream);

/*
 * Writes or compares the bytes of a mapped buffer with CUDA after the work in its stream, and
 * waits. The copies are synchronous, so that the fault driver still counts the library's own
 * asynchronous copies correctly.
 */
void cuda_write_pattern(const gr_buffer *buffer, unsigned seed);
#define assert_cuda_pattern(buffer, seed) assert_no_difference(cuda_pattern_differs(buffer, seed))
#define assert_cuda_bytes(buffer, value)  assert_no_difference(cuda_bytes_differ(buffer, value))
const char *cuda_pattern_differs(const gr_buffer *buffer, unsigned seed);
const char *cuda_bytes_differ(const gr_buffer *buffer, int value);

/* Like cuda_write_pattern() and assert_cuda_pattern(), including the map and the release. */
void write_mapped(gr_resource *resource, unsigned seed);
void assert_mapped(gr_resource *resource, unsigned seed);

void free_resources(gr_resource *const resources[], size_t n);

/* Checks that the description of the resource contains all these texts. */
#define assert_described(resource, ...)                                                            \
    assert_no_difference(description_lacks(resource, (const char *const[]){__VA_ARGS__, NULL}))
const char *description_lacks(const gr_resource *resource, const char *const texts[]);

/* The resource must be open, and neither grinterop nor the driver may consider it mapped. */
void assert_not_mapped(const gr_resource *resource);

/* The CUDA handle of the resource: its registration or imported memory; NULL once it is closed. */
void *driver_handle(const gr_resource *resource);

/* Checks that the driver no longer accepts this handle. Only the software driver can check that. */
void assert_unregistered(void *handle);

/* ---- Kernels --------------------------------------------------------------------------------- */

/*
 * Loads the kernels of test_kernels.cu into the fixture's context, until its teardown. Returns
 * NULL, or the reason why cases that need the kernels are skipped.
 */
const char *kernels_load(void);

/* Skips a case that launches these kernels if they cannot be loaded. */
#define need_kernels()                                                                             \
    do {                                                                                           \
        const char *missing_ = kernels_load();                                                     \
        if (missing_)                                                                              \
            skip("%s", missing_);                                                                  \
    } while (0)

/* Like kernels_load(), for cases that call kernel_fail(). */
const char *failing_kernels_missing(void);

/* Launch a kernel on a stream. */
void kernel_fill_pattern(CUdeviceptr out, size_t size, unsigned seed, CUstream stream);
void kernel_add_one(CUdeviceptr bytes, size_t size, CUstream stream);
void kernel_copy(CUdeviceptr out, CUdeviceptr in, size_t size, CUstream stream);

/* Launches a kernel that fails, after which the CUDA context is unusable. */
void kernel_fail(CUstream stream);

/* ---- Gates ----------------------------------------------------------------------------------- */

/* Blocks a stream at one point. The teardown of the fixture opens and frees all gates. */
struct gate;

/* Inserts a gate into the stream: later work waits until the gate is open. */
struct gate *gate_put(CUstream stream);
void gate_open(struct gate *gate);

/*
 * Opens the gate from another thread after some time, for calls that may block on the stream.
 * Returns the gate.
 */
struct gate *gate_open_after(struct gate *gate, unsigned ms);
bool gate_is_open(struct gate *gate);

/* Opens all gates, as the teardown does. */
void gates_open(void);

#endif
