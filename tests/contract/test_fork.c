/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * In the child of fork(), freeing an object of the parent does nothing, and all other calls are
 * refused, which test_api tests for each function. The parent is unaffected. If a program forks
 * before its first call, both processes can make all calls. Each case runs in its own process, so
 * that the test program itself is not forked.
 */
#include "tests/support/child_check.h"
#include "tests/support/support_vulkan.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grinterop/compat.h>
#include <grinterop/framebuffer.h>
#include <grinterop/tensor.h>

#define SIZE ((size_t)4096)

/* ---- The objects of the parent --------------------------------------------------------------- */

static struct {
    GLuint name;
    gr_resource *idle, *mapped, *slots[2];
    gr_buffer *buffer;
    gr_ring *ring;
    const gr_slot *slot;
    gr_tensor *tensor, *picture;
    GLuint framebuffer;
    gr_resource *staging;
    gr_cuda_context *context;
    gr_vk_headless *headless; /* the rest is NULL without Vulkan */
    gr_vk_device *device;
    gr_semaphore *semaphore;
    gr_submit *submit;
    gr_resource *vulkan, *pair[2];
} have;

static void make_vulkan(void)
{
    have.headless = gr_vk_headless_create(NULL);
    if (!have.headless)
        return;
    child_check(have.device = gr_vk_device_from_headless(have.headless, 0));
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = SIZE,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    child_check(have.vulkan = gr_create_vk_buffer(have.device, &info, GR_READ_WRITE));
    /* two resources that were mapped together, which later calls check faster */
    gr_buffer *buffers[2];
    for (int i = 0; i < 2; i++)
        child_check(have.pair[i] = gr_create_vk_buffer(have.device, &info, GR_READ_WRITE));
    child_check(gr_map_many(have.pair, 2, fx.stream, NULL, buffers) == GR_OK);
    child_check(gr_buffer_release_many(buffers, 2, fx.stream, NULL) == GR_OK);
    child_check(have.semaphore = gr_semaphore_create_vk(have.device, VK_SEMAPHORE_TYPE_TIMELINE));
    child_check(have.submit = gr_submit_begin(&have.vulkan, 1));
}

/* A fetch creates a shader. */
static void fetch(void)
{
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .staging = have.staging);
    child_check(gr_fetch_framebuffer(have.framebuffer, have.picture, &options, fx.stream) == GR_OK);
}

static void make_framebuffer(void)
{
    static const int64_t sides[] = {2, 2, 4};
    const gr_tensor_desc square =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = sides);
    GLuint renderbuffer = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 2, 2);
    have.framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    child_check(have.picture = gr_tensor_create(&square, fx.stream));
    child_check(have.staging = gr_create_gl_buffer(16, GR_READ_ONLY, NULL));
    fetch();
}

static void make_all(void)
{
    fixture_setup();
    have.name = gl_buffer_filled(SIZE, 1);
    child_check(have.idle = gr_from_gl_buffer(have.name, 0));
    child_check(have.mapped = gr_from_gl_buffer(gl_buffer_filled(SIZE, 2), 0));
    child_check(have.buffer = gr_map(have.mapped, fx.stream));
    for (int i = 0; i < 2; i++)
        child_check(have.slots[i] = gr_create_gl_buffer(SIZE, 0, NULL));
    child_check(have.ring = gr_ring_create(have.slots, 2, NULL));
    child_check(gr_ring_acquire_write(have.ring, fx.stream, &have.slot, 1, 0) == GR_OK);
    child_check(have.tensor = gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8,
                                                        .ndim = 1, .shape = (const int64_t[]){16}),
                                               fx.stream));
    child_check(have.context = gr_cuda_context_create(0));
    make_framebuffer();
    make_vulkan();
}

static void free_all(void)
{
    gr_submit_free(have.submit);
    gr_semaphore_free(have.semaphore);
    gr_resource_free(have.vulkan);
    free_resources(have.pair, 2);
    gr_vk_device_free(have.device);
    gr_vk_headless_free(have.headless);
    gr_cuda_context_free(have.context);
    gr_tensor_free(have.tensor);
    gr_tensor_free(have.picture);
    gr_resource_free(have.staging);
    gr_ring_free(have.ring);
    free_resources(have.slots, 2);
    gr_resource_free(have.mapped);
    gr_resource_free(have.idle);
}

/* ---- Results in the child -------------------------------------------------------------------- */

static bool was_refused(const char *call)
{
    const gr_error *error = gr_last_error();
    bool right = error->status == GR_ERR_STATE && strstr(error->message, "was forked");
    if (!right)
        fprintf(stderr, "%s in the child: %s: %s\n", call, gr_status_name(error->status),
                error->message);
    return right;
}

/*
 * Calls besides those of tests/api. Returns the exit status of the child, which does not use Check:
 * that belongs to the parent.
 */
static int try_others(void)
{
    int wrong = 0;
#define TRY(call)                                                                                  \
    gr_clear_error();                                                                              \
    (void)(call);                                                                                  \
    wrong += !was_refused(#call);
    TRY(gr_compat()->has_context())
    TRY(gr_egl_make_current(NULL))
    TRY(gr_resource_close(have.mapped, fx.stream))
    if (have.headless) {
        TRY(gr_map(have.vulkan, fx.stream))
        TRY(gr_submit_begin(have.pair, 2))
    }
    return wrong ? 1 : 0;
}

/* Frees everything twice, which has no effect in the child. */
static int free_twice(void)
{
    gr_clear_error();
    for (int i = 0; i < 2; i++)
        free_all();
    gr_egl_free(fx.egl);
    gr_ring_stop(have.ring);
    if (gr_last_error()->status != GR_OK)
        fprintf(stderr, "a free in the child: %s\n", gr_last_error()->message);
    return gr_last_error()->status == GR_OK ? 0 : 1;
}

/* The description of an object may be any text in the child, as long as it is terminated. */
static int describe(void)
{
    char text[256];
    gr_semaphore_describe(have.semaphore, text, sizeof(text));
    gr_resource_describe(have.idle, text, sizeof(text));
    return 0;
}

/* Runs `what` in the child of a fork, within 20 s. Returns its exit status in the parent. */
static int in_fork(int (*what)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(what());
    }
    child_check(pid > 0 && waitpid(pid, &status, 0) == pid);
    return status;
}

/* After the fork the parent continues to use its objects. */
static void go_on(void)
{
    cuda_fill(have.buffer, 7);
    child_check(gr_buffer_release(have.buffer) == GR_OK);
    child_check(gr_ring_hand_over(have.ring, &have.slot, 1) == GR_OK);
    child_check(have.buffer = gr_map(have.idle, fx.stream));
    cuda_fill(have.buffer, 8);
    child_check(gr_buffer_release(have.buffer) == GR_OK);
    child_check(!gl_bytes_differ(have.name, SIZE, 8));
    fetch();
    free_all();
}

GROUP("fork", add_bare_case)

CHILD_TEST(a_child_may_only_free_and_describe_the_objects_of_its_parent, 3)
{
    static int (*const steps[])(void) = {try_others, free_twice, describe};
    make_all();
    child_check(in_fork(steps[_i]) == 0);
    go_on();
    return 0;
}

/* ---- Before the first call ------------------------------------------------------------------- */

static int use_all(void)
{
    make_all();
    go_on();
    return 0;
}

CHILD_TEST(fork_before_the_first_call_leaves_both_processes_usable)
{
    int status = in_fork(use_all);
    child_check(status == 0);
    return use_all();
}

/* ---- Fork with other threads running --------------------------------------------------------- */

static volatile bool enough;

static void swallow(void *user, gr_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

/* Changes the table of live objects and logs, again and again. */
static void *make_and_end(void *unused)
{
    while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
        gr_cuda_context_free(gr_cuda_context_create(0));
        gr_log_add(GR_LOG_DEBUG, swallow, NULL);
    }
    return unused;
}

static int free_and_log(void)
{
    free_all();
    gr_log_add(GR_LOG_DEBUG, swallow, NULL);
    gr_clear_error();
    return !gr_map(have.idle, fx.stream) && was_refused("gr_map") ? 0 : 1;
}

CHILD_TEST(locks_of_other_threads_are_free_in_the_child)
{
    pthread_t threads[2];
    make_all();
    for (int i = 0; i < 2; i++)
        child_check(pthread_create(&threads[i], NULL, make_and_end, NULL) == 0);
    for (int i = 0; i < 50; i++)
        child_check(in_fork(free_and_log) == 0);
    __atomic_store_n(&enough, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        child_check(pthread_join(threads[i], NULL) == 0);
    go_on();
    return 0;
}

static pid_t of_log = -1;

static void fork_once(void *user, gr_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    if (of_log == -1)
        of_log = fork();
    if (of_log == 0)
        alarm(20);
}

/* Catches: in the child gr_log_remove() waited forever for a line that had been delivered. */
CHILD_TEST(a_log_function_may_fork)
{
    int status = -1;
    unsigned flags;
    child_check(gr_log_add(GR_LOG_ERROR, fork_once, NULL) == GR_OK);
    gr_flags_parse("nonsense", &flags);
    gr_log_remove(fork_once, NULL);
    if (of_log == 0)
        _exit(0);
    child_check(waitpid(of_log, &status, 0) == of_log && status == 0);
    return 0;
}
