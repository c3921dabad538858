/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * See three_way.h. For each pair of APIs and each direction, Vulkan creates a semaphore, which the
 * other APIs import. One API of the pair always signals the semaphore, and the other always waits
 * for it.
 */
#define _GNU_SOURCE
#include "three_way.h"

#include <epoxy/egl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* GL_NV_timeline_semaphore, which epoxy does not support. */
#define TIMELINE_SEMAPHORE_VALUE_NV 0x9595
#define SEMAPHORE_TYPE_NV           0x95B3
#define SEMAPHORE_TYPE_TIMELINE_NV  0x95B5
typedef void(EPOXY_CALLSPEC *create_semaphores_fn)(GLsizei n, GLuint *semaphores);
typedef void(EPOXY_CALLSPEC *semaphore_parameter_fn)(GLuint semaphore, GLenum what,
                                                     const GLint *values);

enum waits { BY_HOST, BY_BINARIES, BY_TIMELINES };

static enum waits waits;

/*
 * With the first semaphore the OpenGL driver opens objects that it keeps. The descriptor check of
 * the case must not count them.
 */
static void note_first_use(void)
{
    static bool used[BY_TIMELINES + 1];
    if (waits != BY_HOST && !used[waits])
        fx.fds = -1;
    used[waits] = true;
}

const char *choose_waits(bool timelines)
{
    bool semaphores = vk.exports && epoxy_has_gl_extension("GL_EXT_semaphore_fd");
    waits = timelines ? BY_TIMELINES : semaphores ? BY_BINARIES : BY_HOST;
    if (timelines && !(semaphores && epoxy_has_gl_extension("GL_NV_timeline_semaphore")))
        return "this OpenGL has no GL_NV_timeline_semaphore";
    note_first_use();
    return NULL;
}

/* A semaphore that one API signals and another waits for. */
struct turn {
    gr_semaphore *semaphore; /* NULL: not used yet */
    GLuint name;             /* the OpenGL name, if OpenGL is involved */
    uint64_t value;          /* the value of a timeline; 0 for a binary semaphore */
};

static struct turn turns[APIS][APIS];
static enum api owner;
GLuint gl_name, gl_texture;

static GLuint gl_semaphore(void)
{
    GLuint made = 0;
    if (waits == BY_TIMELINES) {
        const GLint type = SEMAPHORE_TYPE_TIMELINE_NV;
        create_semaphores_fn create =
            (create_semaphores_fn)eglGetProcAddress("glCreateSemaphoresNV");
        semaphore_parameter_fn set =
            (semaphore_parameter_fn)eglGetProcAddress("glSemaphoreParameterivNV");
        ck_assert(create && set);
        create(1, &made);
        set(made, SEMAPHORE_TYPE_NV, &type); /* the type must be set before the import */
    } else {
        glGenSemaphoresEXT(1, &made);
    }
    assert_gl_clean();
    return made;
}

/* Imports the semaphore. OpenGL owns the descriptor afterwards. */
static GLuint gl_semaphore_of(gr_semaphore *semaphore)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = gr_vk_semaphore(semaphore),
                                          .handleType =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    PFN_vkGetSemaphoreFdKHR get = (PFN_vkGetSemaphoreFdKHR)vk.h->get_instance_proc_addr(
        vk.h->instance, "vkGetSemaphoreFdKHR");
    int fd = -1;
    ck_assert(get);
    ck_assert_int_eq(get(vk.h->device, &info, &fd), VK_SUCCESS);
    GLuint made = gl_semaphore();
    glImportSemaphoreFdEXT(made, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    assert_gl_clean();
    return made;
}

/* Returns the semaphore of this pair and direction, with the value of its next signal. */
static const struct turn *next_turn(enum api from, enum api to)
{
    struct turn *turn = &turns[from][to];
    if (!turn->semaphore) {
        turn->semaphore = must_make(
            gr_semaphore_create_vk(vk.wrap, waits == BY_TIMELINES ? VK_SEMAPHORE_TYPE_TIMELINE
                                                                  : VK_SEMAPHORE_TYPE_BINARY));
        if (from == OPENGL || to == OPENGL)
            turn->name = gl_semaphore_of(turn->semaphore);
    }
    if (waits == BY_TIMELINES)
        turn->value++;
    return turn;
}

/*
 * Signals or waits in OpenGL. The buffer or texture is passed, so that OpenGL writes back or
 * invalidates its caches.
 */
static void gl_takes_turn(const struct turn *turn, bool signals)
{
    const GLenum layout = GL_LAYOUT_GENERAL_EXT;
    const GLuint buffers = gl_name != 0, textures = gl_texture != 0;
    if (waits == BY_TIMELINES)
        glSemaphoreParameterui64vEXT(turn->name, TIMELINE_SEMAPHORE_VALUE_NV, &turn->value);
    if (signals) {
        glSignalSemaphoreEXT(turn->name, buffers, &gl_name, textures, &gl_texture, &layout);
        glFlush(); /* without a flush the other APIs might wait forever */
    } else {
        glWaitSemaphoreEXT(turn->name, buffers, &gl_name, textures, &gl_texture, &layout);
    }
    assert_gl_clean();
}

static void cuda_takes_turn(const struct turn *turn, bool signals)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = turn->semaphore, .value = turn->value);
    assert_ok(signals ? gr_semaphore_signal(&point, 1, fx.stream)
                      : gr_semaphore_wait(&point, 1, fx.stream));
}

static void vulkan_takes_turn(const struct turn *turn, bool signals)
{
    const gr_submit signal = {
        .signal_count = 1, .signals = &turn->semaphore, .signal_values = &turn->value};
    const gr_submit wait = {
        .wait_count = 1, .waits = &turn->semaphore, .wait_values = &turn->value};
    vulkan_submit(vulkan_begin(), signals ? &signal : &wait, NULL);
}

void give_to(enum api to)
{
    static void (*const take[APIS])(const struct turn *, bool) = {vulkan_takes_turn, gl_takes_turn,
                                                                  cuda_takes_turn};
    if (waits != BY_HOST) {
        const struct turn *turn = next_turn(owner, to);
        take[owner](turn, true);
        take[to](turn, false);
    } else if (owner == OPENGL) {
        glFinish(); /* the transfers of Vulkan and CUDA block, but OpenGL only enqueues */
    }
    owner = to;
}

/*
 * A lost signal blocks everything after it, including the teardown. This timeout then ends the
 * program.
 */
#define MOST_SECONDS 30

static unsigned seconds_left;
static void (*after_that)(int);

static void end_all(int unused)
{
    static const char text[] = "a signal between Vulkan, OpenGL and CUDA got lost\n";
    (void)unused;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)ignored;
    _exit(1);
}

void begin_turns(void)
{
    after_that = signal(SIGALRM, end_all);
    seconds_left = alarm(MOST_SECONDS);
    memset(turns, 0, sizeof(turns));
    owner = VULKAN;
    gl_name = gl_texture = 0;
}

void end_turns(void)
{
    alarm(MOST_SECONDS);
    CU(CtxSetCurrent(fx.context));
    CU(CtxSynchronize());
    glFinish();
    if (!vk.missing)
        vulkan_finish();
    for (int i = 0; i < APIS * APIS; i++) {
        struct turn *turn = &turns[i / APIS][i % APIS];
        if (turn->name != 0)
            glDeleteSemaphoresEXT(1, &turn->name);
        gr_semaphore_free(turn->semaphore);
    }
    alarm(seconds_left);
    signal(SIGALRM, after_that);
}
