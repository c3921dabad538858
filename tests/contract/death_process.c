/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A process ends during a mapping: by exit() with everything open, on the thread that mapped or on
 * another one; by exit() with a handler that frees everything; or after fork(), whose child ends
 * while the parent continues. Each end of each kind of life runs in its own process, which must end
 * normally.
 */
#define _GNU_SOURCE
#include "death.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct life life; /* static, so that leak checkers find the objects that it points to */

/* ---- Ends ------------------------------------------------------------------------------------ */

/* Frees everything in the correct order. Returns the result of the release. */
static gr_status end_all(void)
{
    gr_ring_free(life.ring);
    gr_status status = gr_buffer_release(life.buffer);
    free_resources(life.resources, life.count);
    gr_vk_device_free(life.device);
    gr_vk_headless_free(life.headless);
    gr_egl_free(life.egl);
    gr_cuda_context_free(life.primary);
    return status;
}

static void *exit_here(void *unused)
{
    exit(0);
    return unused;
}

static void leave(void)
{
    exit_here(NULL);
}

static void leave_on_another_thread(void)
{
    pthread_t thread;
    child_check(pthread_create(&thread, NULL, exit_here, NULL) == 0);
    pthread_join(thread, NULL);
}

/*
 * Like the destructor of a static C++ object that was created after the contexts: runs in a handler
 * of exit().
 */
static void end_in_a_handler(void)
{
    if (end_all() != GR_OK) {
        printf("the handler's release gave: %s\n", error_text());
        fflush(stdout);
        _exit(1);
    }
}

static void leave_to_a_handler(void)
{
    child_check(atexit(end_in_a_handler) == 0);
    exit(0);
}

static void fork_and(void (*end)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        end();
    }
    child_check(pid > 0 && waitpid(pid, &status, 0) == pid);
    ck_assert_msg(status == 0, "the child of fork() ended with 0x%x", (unsigned)status);
    child_check(gr_buffer_ptr(life.buffer));
    child_check(cu->StreamSynchronize(life.stream) == CUDA_SUCCESS);
    child_check(end_all() == GR_OK);
}

static void end_at_once(void)
{
    _exit(0);
}

/* Frees everything twice, which has no effect in the child. */
static void free_and_end(void)
{
    for (int i = 0; i < 2; i++)
        end_all();
    _exit(0);
}

static void fork_one_that_ends(void)
{
    fork_and(end_at_once);
}

static void fork_one_that_frees(void)
{
    fork_and(free_and_end);
}

static void fork_one_that_exits(void)
{
    fork_and(leave);
}

/*
 * Leak checkers run at the end of the child and do not see pointers on the stacks of threads that
 * exist only in the parent, so they would report false leaks.
 */
static bool is_leak_checkable(void (*run)(void))
{
    return run != fork_one_that_exits || !sanitizer();
}

/*
 * The handlers that libEGL_nvidia (580) registers with exit() crash on another thread than that of
 * the OpenGL context, and in a child of fork() also break the OpenGL of the parent: docs/driver.md.
 */
static bool is_survivable(void (*run)(void))
{
    return !death_is_on_a_gpu() || (run != leave_on_another_thread && run != fork_one_that_exits);
}

/* `open`: objects are open at the end of the process, and the process reports them. */
static const struct end {
    const char *name;
    void (*run)(void);
    bool open;
} ends[] = {
    {"exit()", leave, true},
    {"exit() on another thread", leave_on_another_thread, true},
    {"exit(), and a handler that frees all", leave_to_a_handler, false},
    {"fork(), whose child ends", fork_one_that_ends, false},
    {"fork(), whose child frees all", fork_one_that_frees, false},
    {"fork(), whose child calls exit()", fork_one_that_exits, false},
};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

#define END_VARIABLE "DEATH_END"

CHILD(live_and_end)
{
    life.kind = &kinds[number_of(KIND_VARIABLE)];
    death_driver_load();
    life_begin(&life);
    if (life.missing) {
        printf("missing: %s\n", life.missing);
        return 0;
    }
    printf(ALIVE);
    fflush(stdout);
    gr_log_add(GR_LOG_INFO, NULL, NULL); /* reports the objects that are open at the end */
    ends[number_of(END_VARIABLE)].run();
    return 0;
}

GROUP("ends of a process", add_bare_case)

#define OPEN_AT_END "the process ends with "

static void note(char *bad, size_t size, const char *name, int status, const char *said)
{
    size_t used = strlen(bad), length = strlen(said);
    snprintf(bad + used, size - used, "\n%s ended with 0x%x: %s", name, (unsigned)status,
             said + (length > 500 ? length - 500 : 0));
}

TEST(each_process_end_during_a_mapping_is_clean, KINDS)
{
    static char said[65536], bad[3000];
    bad[0] = '\0';
    number_set(KIND_VARIABLE, _i);
    for (size_t i = 0; i < ENDS; i++) {
        if (!is_leak_checkable(ends[i].run) || !is_survivable(ends[i].run))
            continue;
        number_set(END_VARIABLE, (int)i);
        int status = child_run("live_and_end", said, sizeof(said));
        const char *missing = strstr(said, "missing: ");
        if (status == 0 && missing)
            skip("%s: %.300s", kinds[_i].name, missing + strlen("missing: "));
        bool open = strstr(said, OPEN_AT_END);
        if (status != 0 || !strstr(said, ALIVE) || open != ends[i].open)
            note(bad, sizeof(bad), ends[i].name, status, said);
    }
    ck_assert_msg(!bad[0], "%s: %s", kinds[_i].name, bad);
}

GROUP("crashes", add_bare_case)

CHILD(ends_by_signal)
{
    raise(_i);
    return 0;
}

/* run-test ends a program that takes too long by SIGTERM. Catches: a crash named no case. */
TEST(a_crash_and_a_time_limit_name_the_case, 2)
{
    static char said[8192], child[40], wanted[80];
    const int number = _i ? SIGTERM : SIGSEGV;
    snprintf(child, sizeof(child), "ends_by_signal %d", number);
    snprintf(wanted, sizeof(wanted), " in child; the last case was ends_by_signal:%d\n", number);
    const int status = child_run(child, said, sizeof(said));
    if (number == SIGTERM || sanitizer())
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != 0, "0x%x", (unsigned)status);
    else
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ck_assert_msg(strstr(said, wanted), "\"%s\" is not in \"%s\"", wanted, said);
}
