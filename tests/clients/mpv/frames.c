/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * frames API SOURCE WIDTH HEIGHT [OPTION=VALUE...]: plays a source as fast as libmpv renders it,
 * without a window, and prints a hash of each frame. API is opengl or vulkan; the options are
 * mpv's. `time` in place of the first option prints no hashes: no frame is read back then.
 *
 * Afterwards it prints the frame rate, CPU times, and the calls of the CUDA driver that the render
 * thread made. grinterop and mpv look these functions up by dlsym() and cuGetProcAddress().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <mpv/client.h>
#include <mpv/render_gl.h>

#include <grinterop/egl.h>

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "frames: %s: %s\n", what, why);
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Counting calls -------------------------------------------------------------------------- */

#define COUNTED(X)                                                                                 \
    X(cuStreamSynchronize)                                                                         \
    X(cuCtxSynchronize)                                                                            \
    X(cuEventSynchronize)                                                                          \
    X(cuGraphicsMapResources)                                                                      \
    X(cuGraphicsUnmapResources)                                                                    \
    X(cuGraphicsSubResourceGetMappedArray)                                                         \
    X(cuWaitExternalSemaphoresAsync)                                                               \
    X(cuSignalExternalSemaphoresAsync)                                                             \
    X(cuLaunchHostFunc)                                                                            \
    X(cuStreamWaitEvent)                                                                           \
    X(cuEventRecord)                                                                               \
    X(cuMemcpy2DAsync)                                                                             \
    X(cuCtxPushCurrent)                                                                            \
    X(cuCtxPopCurrent)                                                                             \
    X(cuCtxGetCurrent)                                                                             \
    X(cuCtxSetCurrent)

/* Every counted function has at most four arguments, each an integer or a pointer. */
typedef int function(void *, void *, void *, void *);

enum {
#define INDEX(name) INDEX_##name,
    COUNTED(INDEX) COUNT
};

static struct {
    const char *name;
    function *real;
    unsigned calls;
    double took;
} counters[COUNT] = {
#define COUNTER(name) [INDEX_##name] = {#name, NULL, 0, 0},
    COUNTED(COUNTER)};

static _Thread_local int rendering;

static int count(int index, void *a, void *b, void *c, void *d)
{
    double begun = seconds(CLOCK_MONOTONIC);
    int result = counters[index].real(a, b, c, d);

    if (rendering) {
        counters[index].calls++;
        counters[index].took += seconds(CLOCK_MONOTONIC) - begun;
    }
    return result;
}

#define WRAPPER(name)                                                                              \
    static int counted_##name(void *a, void *b, void *c, void *d)                                  \
    {                                                                                              \
        return count(INDEX_##name, a, b, c, d);                                                    \
    }
COUNTED(WRAPPER)

static function *const wrappers[COUNT] = {
#define ENTRY(name) [INDEX_##name] = counted_##name,
    COUNTED(ENTRY)};

/* The counting function, if `name` is counted; otherwise `real`. Ignores suffixes such as _v2. */
static void *counted(const char *name, void *real)
{
    for (int i = 0; real && i < COUNT; i++) {
        size_t length = strlen(counters[i].name);
        if (!strncmp(name, counters[i].name, length) &&
            (!name[length] || !strncmp(name + length, "_v", 2))) {
            /* A driver's cuGetProcAddress() may itself have used dlsym(). */
            if (real != (void *)wrappers[i])
                counters[i].real = (function *)real;
            return (void *)wrappers[i];
        }
    }
    return real;
}

static int (*proc_address)(const char *, void **, int, uint64_t, void *);

static int counted_proc_address(const char *name, void **found, int version, uint64_t flags,
                                void *status)
{
    int result = proc_address(name, found, version, flags, status);

    if (!result)
        *found = counted(name, *found);
    return result;
}

void *dlsym(void *restrict library, const char *restrict name)
{
    static void *(*real)(void *, const char *);

    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    void *found = real(library, name);
    if (found && !strcmp(name, "cuGetProcAddress_v2")) {
        proc_address = (int (*)(const char *, void **, int, uint64_t, void *))found;
        return (void *)counted_proc_address;
    }
    return strncmp(name, "cu", 2) ? found : counted(name, found);
}

/* ---- Playing --------------------------------------------------------------------------------- */

static struct {
    mpv_handle *mpv;
    mpv_render_context *context;
    sem_t wake;
    const char *api;
    int size[2], fbo, hashes;
    unsigned char *pixels;
    unsigned frames;
    double begun, cpu_begun, thread_begun, took, cpu_took, thread_took, in_render, longest;
} player;

static void wake(void *unused)
{
    (void)unused;
    sem_post(&player.wake);
}

static void *gl_function(void *unused, const char *name)
{
    (void)unused;
    return (void *)eglGetProcAddress(name);
}

static void check(int status, const char *what)
{
    if (status < 0)
        fail(what, mpv_error_string(status));
}

static void create_target(void)
{
    GLuint texture, fbo;

    if (!gr_egl_create(NULL))
        fail("OpenGL", gr_last_error()->message);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, player.size[0], player.size[1]);
    glGenFramebuffers(1, &fbo);
    glBindFramebuffer(GL_FRAMEBUFFER, fbo);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    player.fbo = (int)fbo;
}

static void create_player(char *const options[], int n)
{
    static const char *const fixed[][2] = {{"vo", "libmpv"},     {"untimed", "yes"},
                                           {"framedrop", "no"},  {"osd-level", "0"},
                                           {"terminal", "yes"},  {"msg-level", "all=warn"},
                                           {"keep-open", "yes"}, {"keep-open-pause", "no"}};
    mpv_opengl_init_params gl = {.get_proc_address = gl_function};
    mpv_render_param params[] = {{MPV_RENDER_PARAM_API_TYPE, (void *)player.api},
                                 {MPV_RENDER_PARAM_OPENGL_INIT_PARAMS, &gl},
                                 {MPV_RENDER_PARAM_ADVANCED_CONTROL, &(int){1}},
                                 {0, NULL}};

    player.mpv = mpv_create();
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        check(mpv_set_option_string(player.mpv, fixed[i][0], fixed[i][1]), fixed[i][0]);
    for (int i = 0; i < n; i++) {
        char *value = strchr(options[i], '=');
        if (!value)
            fail("not an option of the form NAME=VALUE", options[i]);
        *value = '\0';
        check(mpv_set_option_string(player.mpv, options[i], value + 1), options[i]);
    }
    check(mpv_initialize(player.mpv), "mpv_initialize");
    check(mpv_render_context_create(&player.context, player.mpv, params), "the renderer");
    sem_init(&player.wake, 0, 0);
    mpv_render_context_set_update_callback(player.context, wake, NULL);
    mpv_set_wakeup_callback(player.mpv, wake, NULL);
}

/* FNV-1a over 32-bit pixels. */
static uint64_t hash(void)
{
    uint64_t sum = 0xcbf29ce484222325;
    size_t count = (size_t)player.size[0] * (size_t)player.size[1];

    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, player.pixels + 4 * i, 4);
        sum = (sum ^ pixel) * 0x100000001b3;
    }
    return sum;
}

/* Reads the frame. If it is only timed, at most three frames are in flight, as with a swapchain. */
static void finish_gl_frame(void)
{
    static GLsync fences[3];
    GLsync *fence = &fences[player.frames % 3];

    if (player.hashes) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)player.fbo);
        glReadPixels(0, 0, player.size[0], player.size[1], GL_RGBA, GL_UNSIGNED_BYTE,
                     player.pixels);
        return;
    }
    if (*fence) {
        glClientWaitSync(*fence, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
        glDeleteSync(*fence);
    }
    *fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
}

static void render(void)
{
    mpv_render_frame_info info;
    mpv_render_param query = {MPV_RENDER_PARAM_NEXT_FRAME_INFO, &info};
    mpv_opengl_fbo fbo = {player.fbo, player.size[0], player.size[1], GL_RGBA8};
    mpv_render_param params[] = {{MPV_RENDER_PARAM_OPENGL_FBO, &fbo},
                                 {MPV_RENDER_PARAM_SW_SIZE, player.size},
                                 {MPV_RENDER_PARAM_BLOCK_FOR_TARGET_TIME, &(int){0}},
                                 {player.hashes ? MPV_RENDER_PARAM_SW_POINTER : 0, player.pixels},
                                 {0, NULL}};

    mpv_render_context_get_info(player.context, query);
    if (!player.frames) {
        player.begun = seconds(CLOCK_MONOTONIC);
        player.cpu_begun = seconds(CLOCK_PROCESS_CPUTIME_ID);
        player.thread_begun = seconds(CLOCK_THREAD_CPUTIME_ID);
    }
    double begun = seconds(CLOCK_MONOTONIC);
    rendering = 1;
    check(mpv_render_context_render(player.context, params), "rendering");
    rendering = 0;
    double took = seconds(CLOCK_MONOTONIC) - begun;
    if (info.flags & (MPV_RENDER_FRAME_INFO_REDRAW | MPV_RENDER_FRAME_INFO_REPEAT))
        return;

    player.in_render += took;
    /* The first frame compiles shaders and registers textures. */
    if (player.frames && took > player.longest)
        player.longest = took;
    if (player.fbo)
        finish_gl_frame();
    if (player.hashes)
        printf("frame %u %016llx\n", player.frames, (unsigned long long)hash());
    player.frames++;
    player.took = seconds(CLOCK_MONOTONIC) - player.begun;
    player.cpu_took = seconds(CLOCK_PROCESS_CPUTIME_ID) - player.cpu_begun;
    player.thread_took = seconds(CLOCK_THREAD_CPUTIME_ID) - player.thread_begun;
    mpv_render_context_report_swap(player.context);
}

/* Whether the last frame was decoded; mpv may still draw it. */
static int handle_events(void)
{
    for (;;) {
        const mpv_event *event = mpv_wait_event(player.mpv, 0);
        if (event->event_id == MPV_EVENT_NONE)
            return 0;
        if (event->event_id == MPV_EVENT_END_FILE)
            check(((const mpv_event_end_file *)event->data)->error, "playing");
        if (event->event_id == MPV_EVENT_PROPERTY_CHANGE) {
            const mpv_event_property *ended = event->data;
            if (ended->format == MPV_FORMAT_FLAG && *(const int *)ended->data)
                return 1;
        }
    }
}

static void play(const char *source)
{
    struct timespec limit;
    int ended = 0;

    check(mpv_observe_property(player.mpv, 0, "eof-reached", MPV_FORMAT_FLAG), "eof-reached");
    check(mpv_command(player.mpv, (const char *[]){"loadfile", source, NULL}), "loadfile");
    do {
        if (mpv_render_context_update(player.context) & MPV_RENDER_UPDATE_FRAME)
            render();
        ended |= handle_events();
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += ended ? 1 : 60;
    } while (!sem_timedwait(&player.wake, &limit));
    if (!ended || !player.frames)
        fail("playing", "no frame for 60 seconds");
}

static void report(void)
{
    double n = player.frames;

    printf("%u frames, %.1f per second; per frame %.3f ms of CPU time, %.3f ms in the render "
           "thread; rendering took %.3f ms, the longest %.3f ms\n",
           player.frames, n / player.took, 1e3 * player.cpu_took / n, 1e3 * player.thread_took / n,
           1e3 * player.in_render / n, 1e3 * player.longest);
    for (int i = 0; i < COUNT; i++)
        if (counters[i].calls)
            printf("%s: %.2f per frame, %.3f ms\n", counters[i].name, counters[i].calls / n,
                   1e3 * counters[i].took / n);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        fail("usage", "frames opengl|vulkan SOURCE WIDTH HEIGHT [time] [OPTION=VALUE...]");
    player.api = argv[1];
    player.size[0] = atoi(argv[3]);
    player.size[1] = atoi(argv[4]);
    player.hashes = argc == 5 || strcmp(argv[5], "time") != 0;
    player.pixels = malloc(4 * (size_t)player.size[0] * (size_t)player.size[1]);
    if (!player.pixels)
        fail("the pixels", "out of memory");
    if (!strcmp(player.api, MPV_RENDER_API_TYPE_OPENGL))
        create_target();
    int options = player.hashes ? 5 : 6;
    create_player(argv + options, argc - options);
    play(argv[2]);
    report();
    mpv_render_context_free(player.context);
    mpv_terminate_destroy(player.mpv);
    free(player.pixels);
    return 0;
}
