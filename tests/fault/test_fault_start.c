/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls that grinterop makes only once per process, each of which fails once (see fault_walk.c):
 * loading drivers, querying the drivers and the machine, locks, and data kept for a context. Each
 * fault has its own process, in which the same operation is tried again and must succeed.
 */
#define _GNU_SOURCE
#include "fault_calls.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <epoxy/egl.h>
#include <vulkan/vulkan_core.h>

#include <grinterop/tensor.h>
#include <grinterop/vk.h>

/* The exit status of a child if there is no place with this number. */
#define NO_PLACE 40

/* More places than any start has. */
#define MOST_PLACES 400

#define SIZE 64

static const char *no_calls;

/* ---- Starts ---------------------------------------------------------------------------------- */

static bool start_cuda(void)
{
    gr_status loaded = gr_cuda_load(false);
    gr_cuda_context *context = loaded == GR_OK ? gr_cuda_context_create(0) : NULL;
    gr_cuda_context_free(context);
    return context;
}

static bool map_once(GLuint name, gr_transport transport)
{
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(
        name, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = transport));
    gr_buffer *buffer = resource ? gr_map(resource, CU_STREAM_LEGACY) : NULL;
    bool good = buffer && gr_buffer_release(buffer) == GR_OK;
    if (buffer && !good)
        gr_buffer_release_later(buffer);
    return good;
}

static bool use_opengl(gr_transport transport)
{
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    if (!egl)
        return false;
    GLuint name = gl_buffer_filled(SIZE, 1);
    bool good = map_once(name, transport);
    glDeleteBuffers(1, &name);
    return good;
}

static bool start_interop(void)
{
    return use_opengl(GR_TRANSPORT_INTEROP);
}

static bool start_copy(void)
{
    return use_opengl(GR_TRANSPORT_COPY);
}

/* The shared transport of OpenGL, which uses Vulkan. */
static bool start_sharing(void)
{
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    gr_resource *resource = egl ? gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing) : NULL;
    gr_resource_free(resource);
    return resource;
}

static bool start_vulkan(void)
{
    gr_vk_headless *headless = gr_vk_headless_create(NULL);
    gr_vk_headless_free(headless);
    return headless;
}

static bool start_tensor(void)
{
    static const int64_t shape[1] = {SIZE};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape);
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    gr_tensor *tensor =
        context ? gr_tensor_create(&desc, gr_cuda_context_get_info(context)->stream) : NULL;
    gr_tensor_free(tensor);
    gr_tensor_collect(GR_WAIT_FOREVER); /* a tensor whose free was deferred ends with its context */
    return tensor;
}

/*
 * The EGL loader finds no driver. Whichever call fails, the message must say where the loader
 * searched.
 */
static bool advise_on(const char *variable, const char *value)
{
    setenv(variable, value, 1);
    gr_egl *egl = gr_egl_create(NULL);
    bool refused = !egl && gr_last_error()->status == GR_ERR_GL;
    gr_egl_free(egl);
    return refused || gr_last_error()->status == GR_OK;
}

static bool advise_on_files(void)
{
    return advise_on("__EGL_VENDOR_LIBRARY_FILENAMES",
                     "/usr/share/glvnd/egl_vendor.d/none.json:/dev/null");
}

static bool advise_on_folders(void)
{
    unsetenv("__EGL_VENDOR_LIBRARY_FILENAMES");
    return advise_on("__EGL_VENDOR_LIBRARY_DIRS", "/dev:/nowhere");
}

static const struct start {
    const char *name;
    bool (*run)(void);
} starts[] = {
    {"CUDA", start_cuda},
    {"OpenGL, by interop", start_interop},
    {"OpenGL, by copies", start_copy},
    {"OpenGL, shared", start_sharing},
    {"Vulkan", start_vulkan},
    {"a tensor", start_tensor},
    {"no EGL driver in files", advise_on_files},
    {"no EGL driver in folders", advise_on_folders},
};
#define STARTS (sizeof(starts) / sizeof(*starts))

static const struct way {
    const char *name;
    struct call_fault fault;
} ways[] = {
    {"CUDA refuses", {.kind = CALL_CUDA, .code = CUDA_ERROR_UNKNOWN}},
    {"CUDA is out of memory", {.kind = CALL_CUDA, .code = CUDA_ERROR_OUT_OF_MEMORY}},
    {"the heap is full", {.kind = CALL_MEMORY}},
    {"the system refuses", {.kind = CALL_SYSTEM}},
    {"OpenGL is out of memory", {.kind = CALL_GL, .code = GL_OUT_OF_MEMORY}},
    {"EGL is out of memory", {.kind = CALL_EGL, .code = EGL_BAD_ALLOC}},
    {"Vulkan is out of memory", {.kind = CALL_VULKAN, .code = VK_ERROR_OUT_OF_HOST_MEMORY}},
};
#define WAYS (sizeof(ways) / sizeof(*ways))

/* ---- The child ------------------------------------------------------------------------------- */

/* The start, the way of failing and the place of this child. If the place is 0, nothing fails. */
static unsigned which_start, which_way;
static long which_place;

static void check_error(const struct call_hit *hit)
{
    const gr_error *e = gr_last_error();
    ck_assert_msg(e->status != GR_OK && e->call && *e->call && e->message && *e->message,
                  "the fault of %s is not reported", hit->function);
    if (ways[which_way].fault.kind == CALL_MEMORY)
        ck_assert_msg(e->status == GR_ERR_NO_MEMORY, "wrong class: %s of %s: %s",
                      gr_status_name(e->status), e->call, e->message);
}

/*
 * Prints the number of objects that are open afterwards. The parent compares it with that of a
 * child without a fault.
 */
static void say_balance(void)
{
    struct call_balance now = fault_calls_balance();
    printf("open: %d", open_fds());
    for (size_t i = 0; i < CALL_BALANCES; i++)
        printf(" %ld", now.open[i]);
    printf("\n");
    fflush(stdout);
}

/*
 * A missing symbol is a valid result, which grinterop keeps. Without the symbol that identifies it,
 * the software driver is treated as a GPU driver, and OpenGL and Vulkan are searched for on a GPU.
 */
static bool is_taken_for_a_gpu(const struct call_hit *hit)
{
    return hit->function && strcmp(hit->function, "dlsym") == 0 && !gr_cuda_is_software();
}

CHILD(child_starts)
{
    const char *text = getenv("FAULT_START");
    ck_assert(text && sscanf(text, "%u %u %ld", &which_start, &which_way, &which_place) == 3);
    ck_assert_ptr_null(fault_calls_start(NULL));
    struct call_fault fault = ways[which_way].fault;
    fault.most = 1;
    fault.place = which_place;
    fault_calls_begin();
    if (which_place)
        fault_calls_arm(&fault);
    bool good = starts[which_start].run();
    struct call_hit hit = fault_calls_disarm();
    if (hit.function)
        printf("failed: %s at 0x%lx\n", hit.function, hit.site);
    if (hit.function && !good)
        check_error(&hit);
    gr_clear_error();
    ck_assert_msg(starts[which_start].run() || is_taken_for_a_gpu(&hit), "the next try fails: %s",
                  error_text());
    say_balance();
    const char *path = getenv("FAULT_WALK_SITES");
    if (path)
        ck_assert(fault_calls_write_sites(path));
    return which_place && !hit.function ? NO_PLACE : 0;
}

/* ---- The parent ------------------------------------------------------------------------------ */

static int run_child(unsigned start, unsigned way, long place, char *output, size_t size)
{
    char text[64];
    snprintf(text, sizeof(text), "%u %u %ld", start, way, place);
    setenv("FAULT_START", text, 1);
    return child_run("child_starts", output, size);
}

struct open {
    long of[1 + CALL_BALANCES];
};

static struct open read_balance(const char *output)
{
    struct open open = {{0}};
    const char *at = strstr(output, "open: ");
    ck_assert_msg(at, "the child does not report what is open: %s", output);
    char *next = (char *)at + strlen("open: ");
    for (size_t i = 0; i <= CALL_BALANCES; i++)
        open.of[i] = strtol(next, &next, 10);
    return open;
}

/*
 * lib/base/live_objects.c keeps a heap entry for each address that was used. Some locks are
 * initialised statically but destroyed by a call.
 */
static bool varies(size_t i)
{
    const char *name = i ? fault_calls_balance_name(i - 1) : NULL;
    return name && (strcmp(name, "malloc") == 0 || strcmp(name, "pthread_mutex_init") == 0);
}

/* A run may have left fewer objects open than usual, but not more. */
static int compare(const struct open *usual, const struct open *now, const char *what,
                   const char *output)
{
    int differences = 0;
    for (size_t i = 0; i <= CALL_BALANCES; i++) {
        if (now->of[i] <= usual->of[i] || varies(i))
            continue;
        printf("%s: it leaves %ld of %s: %s\n", what, now->of[i] - usual->of[i],
               i ? fault_calls_balance_name(i - 1) : "descriptors", output);
        differences++;
    }
    return differences;
}

static int walk_places(unsigned start, unsigned way, const struct open *usual, int *faults)
{
    static char output[8192];
    int complaints = 0;
    char what[200];
    for (long place = 1; place < MOST_PLACES; place++) {
        int status = run_child(start, way, place, output, sizeof(output));
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PLACE)
            return complaints;
        ++*faults;
        snprintf(what, sizeof(what), "%s, %s, place %ld", starts[start].name, ways[way].name,
                 place);
        struct open now;
        if (status == 0) {
            now = read_balance(output);
            complaints += compare(usual, &now, what, output);
            continue;
        }
        printf("%s: status 0x%x: %s\n", what, (unsigned)status, output);
        complaints++;
    }
    printf("%s, %s: its places never end\n", starts[start].name, ways[way].name);
    return complaints + 1;
}

static const char *missing(void)
{
    if (no_calls)
        return no_calls;
    if (sanitizer())
        return "with a sanitizer each of its processes takes seconds";
    return gr_cuda_is_software() ? NULL : "a GPU's driver would not know of the errors";
}

GROUP("child_starts", add_case)

TEST_UNLESS(missing(), each_fault_during_a_start_is_reported_and_not_permanent, STARTS)
{
    static char output[8192];
    const char *only = getenv("FAULT_WALK_ONLY");
    const struct start *start = &starts[_i];
    int complaints = 0, faults = 0;
    if (only && !strstr(start->name, only))
        return;
    int status = run_child((unsigned)_i, 0, 0, output, sizeof(output));
    if (status != 0)
        skip("%s does not start here: %s", start->name, output);
    struct open usual = read_balance(output);
    for (unsigned way = 0; way < WAYS; way++)
        complaints += walk_places((unsigned)_i, way, &usual, &faults);
    printf("%s: %d faults\n", start->name, faults);
    fflush(stdout);
    ck_assert_int_gt(faults, 0);
    ck_assert_int_eq(complaints, 0);
}

int main(int argc, char **argv)
{
    bool is_child = argc == 3;
    no_calls = is_child ? NULL : fault_calls_start(NULL);
    return run_tests(argc, argv);
}
