/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Threads: a resource on a thread without its OpenGL context, two resources used at once, errors
 * per thread, and the log called from all threads.
 */
#define _GNU_SOURCE
#include "tests/support/usable.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define SIZE USABLE_SIZE

/*
 * The assertions of Check only work on the main thread, so the other threads return NULL or an
 * error text.
 */
typedef const char *(*thread_body)(void *);

struct job {
    thread_body body;
    void *user;
    const char *wrong;
};

static void *run_job(void *user)
{
    struct job *job = user;
    job->wrong = job->body(job->user);
    return NULL;
}

static void run_threads(struct job jobs[], int count)
{
    pthread_t threads[16];
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        ck_assert_msg(!jobs[i].wrong, "thread %d: %s", i, jobs[i].wrong);
}

static void run_thread(thread_body body, void *user)
{
    struct job job = {.body = body, .user = user};
    run_threads(&job, 1);
}

/* Returns the error text, in memory that outlives the stack of the thread. */
static const char *wrong(const char *what)
{
    static _Thread_local gr_error error;
    static char texts[16][1024];
    static atomic_int used;
    char *text = texts[atomic_fetch_add(&used, 1) % 16];
    error = *gr_last_error();
    snprintf(text, sizeof(texts[0]), "%s; %s: %s", what, gr_status_name(error.status),
             error.message);
    return text;
}

#define thread_check(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return wrong(#condition);                                                              \
    } while (0)

GROUP("the wrong thread", add_case)

struct work {
    gr_resource *resource;
    gr_buffer *buffer;
    GLuint name;
};

static struct work make_work(void)
{
    GLuint name = gl_buffer_filled(SIZE, 3);
    return (struct work){.name = name, .resource = must_register(name)};
}

/* OpenGL must read this value, and the buffer and the resource must still be usable. */
static void end_work(struct work *work, int value)
{
    assert_gl_bytes(work->name, SIZE, value);
    assert_resource_usable(work->resource, work->name);
    gr_resource_free(work->resource);
}

/* A context may move to another thread, which can then use its resources. */
static const char *use_with_context(void *user)
{
    struct work *work = user;
    thread_check(gr_egl_make_current(fx.egl) == GR_OK);
    gr_buffer *buffer = gr_map(work->resource, fx.stream);
    thread_check(buffer);
    thread_check(fx.cu->MemsetD8Async(gr_buffer_ptr(buffer), 0x77, SIZE, fx.stream) == 0);
    thread_check(gr_buffer_release(buffer) == GR_OK);
    thread_check(!gl_bytes_differ(work->name, SIZE, 0x77));
    thread_check(gr_egl_make_current(NULL) == GR_OK);
    return NULL;
}

TEST(resources_can_be_used_on_the_thread_that_has_the_context)
{
    struct work work = make_work();
    assert_ok(gr_egl_make_current(NULL));
    run_thread(use_with_context, &work);
    assert_ok(gr_egl_make_current(fx.egl));
    end_work(&work, 0x77);
}

GROUP("several threads at once", add_case)

#define ROUNDS 150

struct painter {
    unsigned char first; /* the value of the first round */
    size_t size;
    CUstream stream;
};

static const char *paint(const struct painter *painter)
{
    GLuint name = gl_buffer_filled(painter->size, 0);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    thread_check(resource);
    for (int i = 0; i < ROUNDS; i++) {
        int value = (painter->first + i) & 0xff;
        gr_buffer *buffer = gr_map(resource, painter->stream);
        thread_check(buffer);
        thread_check(gr_buffer_size(buffer) == painter->size);
        thread_check(fx.cu->MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value,
                                          painter->size, painter->stream) == CUDA_SUCCESS);
        thread_check(gr_buffer_release(buffer) == GR_OK);
        unsigned char bytes[64];
        gl_read(name, bytes, sizeof(bytes));
        thread_check(bytes[0] == value && bytes[sizeof(bytes) - 1] == value);
    }
    thread_check(gr_resource_close(resource, painter->stream) == GR_OK);
    return NULL;
}

static const char *paint_in_own_context(void *user)
{
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    thread_check(egl);
    thread_check(fx.cu->CtxSetCurrent(fx.context) == CUDA_SUCCESS);
    return paint(user);
}

/* The second thread uses this stream, the first one fx.stream. */
static void paint_on_two_threads(size_t first, size_t second, CUstream stream)
{
    struct painter painters[2] = {{1, first, fx.stream}, {100, second, stream}};
    struct job jobs[2] = {{.body = paint_in_own_context, .user = &painters[0]},
                          {.body = paint_in_own_context, .user = &painters[1]}};
    run_threads(jobs, 2);
}

TEST(two_threads_use_their_own_contexts_and_streams)
{
    paint_on_two_threads(4096, 333, fx.other);
}

TEST(two_threads_use_their_own_contexts_and_one_stream)
{
    paint_on_two_threads(64, 8192, fx.stream);
}

/* Each thread creates and frees resources, without a current CUDA context. */
static const char *make_and_end(void *user)
{
    (void)user;
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    thread_check(egl);
    for (int i = 0; i < 20; i++) {
        GLuint name = gl_buffer_filled(SIZE, i);
        gr_buffer *buffer = gr_map_gl_buffer(name, GR_READ_WRITE, CU_STREAM_PER_THREAD);
        thread_check(!buffer || gr_buffer_size(buffer) == SIZE);
        thread_check(buffer);
        thread_check(gr_buffer_release(buffer) == GR_OK);
        glDeleteBuffers(1, &name);
    }
    CUcontext current = fx.context;
    thread_check(fx.cu->CtxGetCurrent(&current) == CUDA_SUCCESS && !current);
    return NULL;
}

TEST(threads_without_a_cuda_context_can_use_resources)
{
    struct job jobs[3];
    for (int i = 0; i < 3; i++)
        jobs[i] = (struct job){.body = make_and_end};
    run_threads(jobs, 3);
}

GROUP("errors and the log", add_case)

#define SPEAKERS 3
#define SAYINGS  200

struct errors {
    pthread_barrier_t *barrier;
    gr_status status;
};

/*
 * Each thread causes a different error, and still finds that error after all threads have caused
 * theirs.
 */
static const char *err(void *user)
{
    struct errors *mine = user;
    unsigned flags = 0;
    thread_check(gr_last_error()->status == GR_OK);
    for (int i = 0; i < SAYINGS; i++) {
        if (mine->status == GR_ERR_INVALID_VALUE)
            thread_check(gr_flags_parse("nonsense", &flags) == GR_ERR_INVALID_VALUE);
        else if (mine->status == GR_ERR_GL)
            thread_check(!gr_from_gl_buffer(1, GR_READ_WRITE));
        pthread_barrier_wait(mine->barrier);
        thread_check(gr_last_error()->status == mine->status);
        pthread_barrier_wait(mine->barrier);
    }
    return NULL;
}

TEST(errors_are_per_thread)
{
    static const gr_status classes[SPEAKERS] = {GR_ERR_INVALID_VALUE, GR_ERR_GL, GR_OK};
    pthread_barrier_t barrier;
    struct errors errors[SPEAKERS];
    struct job jobs[SPEAKERS];
    pthread_barrier_init(&barrier, NULL, SPEAKERS);
    for (int i = 0; i < SPEAKERS; i++) {
        errors[i] = (struct errors){&barrier, classes[i]};
        jobs[i] = (struct job){.body = err, .user = &errors[i]};
    }
    gr_clear_error();
    run_threads(jobs, SPEAKERS);
    pthread_barrier_destroy(&barrier);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

struct listener {
    atomic_int lines, broken;
};

static void listen(void *user, gr_log_level level, const char *line)
{
    struct listener *listener = user;
    atomic_fetch_add(&listener->lines, 1);
    if (level != GR_LOG_ERROR || !strstr(line, "'speaker-") || strchr(line, '\n'))
        atomic_fetch_add(&listener->broken, 1);
}

static const char *speak(void *user)
{
    unsigned flags = 0;
    char text[32];
    snprintf(text, sizeof(text), "speaker-%d", *(int *)user);
    for (int i = 0; i < SAYINGS; i++) {
        thread_check(gr_flags_parse(text, &flags) == GR_ERR_INVALID_VALUE);
        gr_error error = *gr_last_error();
        thread_check(strstr(error.message, text));
    }
    return NULL;
}

TEST(the_log_is_called_from_several_threads)
{
    struct listener listener = {0};
    struct job jobs[SPEAKERS];
    int numbers[SPEAKERS];
    for (int i = 0; i < SPEAKERS; i++) {
        numbers[i] = i;
        jobs[i] = (struct job){.body = speak, .user = &numbers[i]};
    }
    gr_log_add(GR_LOG_ERROR, listen, &listener);
    run_threads(jobs, SPEAKERS);
    gr_log_remove(listen, &listener);
    ck_assert_int_eq(atomic_load(&listener.lines), SPEAKERS * SAYINGS);
    ck_assert_int_eq(atomic_load(&listener.broken), 0);
}

static struct listener first_listener, second_listener;
static atomic_bool removed;

static void listen_while_added(void *user, gr_log_level level, const char *line)
{
    listen(user, level, line);
    if (atomic_load(&removed))
        atomic_fetch_add(&((struct listener *)user)->broken, 1);
}

static const char *add_and_remove(void *user)
{
    for (int i = 0; i < SAYINGS; i++) {
        atomic_store(&removed, false);
        gr_log_add(GR_LOG_ERROR, listen_while_added, user);
        gr_log_remove(listen_while_added, user);
        atomic_store(&removed, true);
    }
    return NULL;
}

/* One listener stays; no line reaches the other one after its removal. */
TEST(log_functions_can_be_added_and_removed_while_threads_log)
{
    int number = 7;
    struct job jobs[3] = {{.body = speak, .user = &number},
                          {.body = speak, .user = &number},
                          {.body = add_and_remove, .user = &second_listener}};
    assert_ok(gr_log_add(GR_LOG_ERROR, listen, &first_listener));
    run_threads(jobs, 3);
    gr_log_remove(listen, &first_listener);
    ck_assert_int_eq(atomic_load(&first_listener.lines), 2 * SAYINGS);
    ck_assert_int_eq(atomic_load(&first_listener.broken), 0);
    ck_assert_int_eq(atomic_load(&second_listener.broken), 0);
}

/* The log function `stay` has been called, and may return; and how often it was called. */
static atomic_bool inside, may_leave;
static atomic_int stays;

static void stay(void *user, gr_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    atomic_fetch_add(&stays, 1);
    atomic_store(&inside, true);
    while (!atomic_load(&may_leave))
        sleep_ms(1);
}

static const char *log_a_line(void *user)
{
    unsigned flags;
    (void)user;
    gr_flags_parse("nonsense", &flags);
    return NULL;
}

static const char *remove_while_inside(void *user)
{
    while (!atomic_load(&inside))
        sleep_ms(1);
    gr_log_remove(stay, user);
    thread_check(atomic_load(&may_leave));
    return NULL;
}

static const char *add_while_removed(void *user)
{
    while (!atomic_load(&inside))
        sleep_ms(1);
    sleep_ms(100); /* until gr_log_remove() waits */
    thread_check(gr_log_add(GR_LOG_ERROR, stay, user) == GR_OK);
    atomic_store(&may_leave, true);
    return NULL;
}

/* Catches: the removal ended the new listener, and the next line called NULL. */
TEST(a_log_function_can_be_added_again_while_it_is_removed)
{
    struct job jobs[3] = {
        {.body = log_a_line}, {.body = remove_while_inside}, {.body = add_while_removed}};
    assert_ok(gr_log_add(GR_LOG_ERROR, stay, NULL));
    run_threads(jobs, 3);
    ck_assert_int_eq(atomic_load(&stays), 1);
    log_a_line(NULL);
    ck_assert_int_eq(atomic_load(&stays), 2);
    gr_log_remove(stay, NULL);
    log_a_line(NULL);
    ck_assert_int_eq(atomic_load(&stays), 2);
}

static void count_line(void *user, gr_log_level level, const char *line)
{
    (void)level;
    (void)line;
    ++*(int *)user;
}

TEST(each_log_function_gets_the_lines_of_its_level)
{
    unsigned flags;
    int errors = 0, all = 0;
    assert_ok(gr_log_add(GR_LOG_ERROR, count_line, &errors));
    assert_ok(gr_log_add(GR_LOG_DEBUG, count_line, &all));
    struct work work = make_work(); /* logs at the level debug */
    gr_resource_free(work.resource);
    ck_assert_msg(errors == 0 && all > 0, "%d, %d", errors, all);
    int before = all;
    gr_flags_parse("nonsense", &flags);
    ck_assert_msg(errors == 1 && all == before + 1, "%d, %d", errors, all);
    gr_log_remove(count_line, &all);
    gr_flags_parse("nonsense", &flags);
    ck_assert_msg(errors == 2 && all == before + 1, "%d, %d", errors, all);
    assert_ok(gr_log_add(GR_LOG_NONE, count_line, &errors));
    gr_flags_parse("nonsense", &flags);
    ck_assert_int_eq(errors, 2);
    gr_log_remove(count_line, &errors);
    gr_log_remove(count_line, &errors);
    assert_invalid(gr_log_add((gr_log_level)5, count_line, NULL), "no log level");
    int users[32];
    for (int i = 0; i < 31; i++)
        assert_ok(gr_log_add(GR_LOG_NONE, count_line, &users[i]));
    assert_fails(gr_log_add(GR_LOG_NONE, count_line, &users[31]), GR_ERR_STATE, 0, "remove one");
    for (int i = 0; i < 31; i++)
        gr_log_remove(count_line, &users[i]);
}
