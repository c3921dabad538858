/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * main() of all test programs: runs cases, prints the environment and skipped cases, and runs
 * children for cases that end a process.
 */
#define _GNU_SOURCE
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

/*
 * A program that takes longer is considered to hang. Without a process per case, Check cannot stop
 * a single case after a time limit.
 */
#define MOST_SECONDS 850

extern char **environ;

/* ---- Skipping -------------------------------------------------------------------------------- */

/* The length of the case's name: TEST_UNLESS() appends _body to the name of the function. */
static int length_of_case(const char *function)
{
    const char *end = strrchr(function, '_');
    bool is_ours = end && strcmp(end, "_body") == 0;
    return (int)(is_ours ? (size_t)(end - function) : strlen(function));
}

void skip_say(const char *function, const char *format, ...)
{
    printf("skipped: %.*s: ", length_of_case(function), function);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

const char *sanitizer(void)
{
#ifdef SANITIZER
    return SANITIZER;
#else
    return NULL;
#endif
}

/* ---- Children -------------------------------------------------------------------------------- */

static void read_all(int fd, char *text, size_t size)
{
    size_t length = 0;
    char spill[256];
    for (;;) {
        bool room = length + 1 < size;
        ssize_t got =
            read(fd, room ? text + length : spill, room ? size - length - 1 : sizeof(spill));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (room)
            length += (size_t)got;
    }
    text[length] = '\0';
}

/*
 * Starts a child through an emulator: the kernel cannot run a program for another CPU architecture
 * directly.
 */
static int spawn_by(const char *emulator, pid_t *pid, const posix_spawn_file_actions_t *actions,
                    char *option, char *child)
{
    char path[4096], command[64];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    snprintf(command, sizeof(command), "%s", emulator);
    return posix_spawnp(pid, command, actions, NULL, (char *[]){command, path, option, child, NULL},
                        environ);
}

int child_spawn(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions)
{
    const char *emulator = getenv("GR_TEST_EMULATOR");
    char program[] = "/proc/self/exe", option[] = "--child", child[160];
    snprintf(child, sizeof(child), "%s", name);
    if (emulator && *emulator)
        return spawn_by(emulator, pid, actions, option, child);
    return posix_spawn(pid, program, actions, NULL, (char *[]){program, option, child, NULL},
                       environ);
}

struct child_process child_start(const char *name)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t pid = 0;
    int failed = child_spawn(&pid, name, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ck_assert_msg(failed == 0, "the child %s did not start: %s", name, strerror(failed));
    return (struct child_process){pid, ends[0]};
}

int child_end(const struct child_process *child, char *text, size_t size)
{
    int status = 0;
    read_all(child->output, text, size);
    close(child->output);
    while (waitpid(child->pid, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    return status;
}

int child_run(const char *name, char *text, size_t size)
{
    struct child_process child = child_start(name);
    return child_end(&child, text, size);
}

static char last_case[160] = "none", failure[2000]; /* `failure`: of the last case, or "" */

/* In a fixture before a case, the last case is the one before. */
static void say_where(const char *what)
{
    const char *const parts[] = {failure,   what, " in ", tcase_name(), "; the last case was ",
                                 last_case, "\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const ssize_t ignored = write(STDERR_FILENO, parts[i], strlen(parts[i]));
        (void)ignored;
    }
}

static void too_late(int signal)
{
    (void)signal;
    say_where("the test program hangs");
    _exit(1);
}

/*
 * For the time limits of this program and of run-test. While a suite runs, Check's own handlers
 * kill the process group of the test and print nothing. Without a process per case, this program
 * and its caller are in the same group. So each case installs too_late() again.
 */
static void name_hangs(void)
{
    signal(SIGALRM, too_late);
    signal(SIGTERM, too_late);
}

void case_begins(const char *name, int number)
{
    name_hangs();
    failure[0] = '\0';
    snprintf(last_case, sizeof(last_case), "%s:%d", name, number);
}

void case_fails(const char *file, int line, const char *expression, const char *format, ...)
{
    char text[1500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format ? format : expression, arguments);
    va_end(arguments);
    fputs(failure, stdout);
    snprintf(failure, sizeof(failure), "%.100s:%d:F:%s: %s\n", file, line, last_case, text);
#undef _ck_assert_failed
    _ck_assert_failed(file, line, expression, "%s", text);
}

#ifdef SANITIZER
static void ended_by_sanitizer(void)
{
    say_where(SANITIZER " ended the test program");
}
#else
static void crashed(int number)
{
    signal(number, SIG_DFL);
    say_where("the test program crashed");
    raise(number);
}
#endif

/* Check prints nothing about a crash without a process per case. */
static void name_crashes(void)
{
#ifdef SANITIZER
    __sanitizer_set_death_callback(ended_by_sanitizer);
#else
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        signal(numbers[i], crashed);
#endif
}

static const struct child *this_child;
static int this_number, child_status;

/* Runs the child's code as a Check case, so that the code can use the checks. */
static void child(CK_ATTRIBUTE_UNUSED int _i)
{
    name_crashes();
    case_begins(this_child->name, this_number);
    child_status = this_child->run(this_number);
}

static const TTest child_test = {"child", child, __FILE__, __LINE__};

static int run_this_child(void)
{
    /* These variables name the output files of the parent and select the parent's cases. */
    static const char *const parents[] = {
        "CK_LOG_FILE_NAME", "CK_XML_LOG_FILE_NAME", "CK_TAP_LOG_FILE_NAME", "CK_RUN_SUITE",
        "CK_RUN_CASE",      "CK_INCLUDE_TAGS",      "CK_EXCLUDE_TAGS"};
    alarm(MOST_SECONDS / 10);
    for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++)
        unsetenv(parents[i]);
    Suite *suite = suite_create("child");
    TCase *only = tcase_create(this_child->name);
    tcase_add_test(only, &child_test);
    suite_add_tcase(suite, only);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run(runner, NULL, NULL, CK_NORMAL);
    bool failed = srunner_ntests_failed(runner) > 0 || srunner_ntests_run(runner) != 1;
    srunner_free(runner);
    return failed ? CHILD_FAILED : child_status;
}

static struct child *all_children;

void list_child(struct child *child)
{
    child->next = all_children;
    all_children = child;
}

static int be_child(const char *name)
{
    const size_t length = strcspn(name, " ");
    this_number = atoi(name + length);
    for (this_child = all_children; this_child; this_child = this_child->next)
        if (strlen(this_child->name) == length && memcmp(this_child->name, name, length) == 0)
            return run_this_child();
    fprintf(stderr, "there is no child named %s\n", name);
    return CHILD_FAILED;
}

/* ---- main ------------------------------------------------------------------------------------ */

static const char *program_name = "";

static void say_what_runs(void)
{
    char device[128] = "";
    CU(DeviceGetName(device, sizeof(device), fx.device));
    printf("%s: driver %s%s, device %s\n", program_name, gr_cuda_driver_path(),
           gr_cuda_is_software() ? " (software)" : "", device);
    printf("%s: %s\n", program_name, fx.egl->description);
    fflush(stdout);
}

/*
 * Uses every driver once. The primary context stays retained, so that cases do not create it anew
 * on the GPU.
 */
static void use_everything(void)
{
    say_what_runs();
    CUcontext kept = NULL;
    CU(DevicePrimaryCtxRetain(&kept, fx.device));
    gl_use_some_program(); /* NVIDIA's OpenGL opens its shader cache with the first program */
    glFinish();
    CUevent event = NULL;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    gate_open_after(gate_put(fx.stream), 1);
    gr_buffer *buffer =
        must_make(gr_map_gl_buffer(gl_buffer_filled(16, 0), GR_READ_WRITE, fx.stream));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 1, 16, fx.stream));
    CU(EventRecord(event, fx.stream));
    CU(StreamWaitEvent(fx.other, event, 0));
    assert_ok(release_on(buffer, fx.other));
    CU(EventDestroy(event));
}

static void (*first_uses[8])(void);
static size_t first_use_count;

TCase *with_first_use(TCase *tcase, void (*use)(void))
{
    size_t i = 0;
    while (i < first_use_count && first_uses[i] != use)
        i++;
    if (i == sizeof(first_uses) / sizeof(*first_uses))
        abort();
    if (i == first_use_count)
        first_uses[first_use_count++] = use;
    return tcase;
}

static void warm_up(void)
{
    static size_t done;
    name_hangs();
    for (; done < first_use_count; done++) {
        fixture_setup();
        first_uses[done]();
        fx.fds = -1;
        fixture_teardown();
    }
}

TCase *add_case(Suite *suite, const char *name)
{
    TCase *made = with_first_use(add_bare_case(suite, name), use_everything);
    tcase_add_unchecked_fixture(made, warm_up, NULL);
    return with_fixture(made, fixture_setup, fixture_teardown);
}

TCase *add_bare_case(Suite *suite, const char *name)
{
    TCase *made = tcase_create(name);
    suite_add_tcase(suite, made);
    return made;
}

TCase *with_fixture(TCase *tcase, void (*setup)(void), void (*teardown)(void))
{
    tcase_add_checked_fixture(tcase, setup, teardown);
    return tcase;
}

/* ---- Lists of tests -------------------------------------------------------------------------- */

static struct listed *all_listed;

/*
 * The constructors of one file run in any order, and those of several files in link order. So this
 * function sorts the entries of each file by line.
 */
void list_here(struct listed *listed)
{
    struct listed **at = &all_listed;
    bool seen = false;
    for (; *at; at = &(*at)->next) {
        bool same = strcmp((*at)->file, listed->file) == 0;
        if ((seen && !same) || (same && (*at)->line > listed->line))
            break;
        seen = same;
    }
    listed->next = *at;
    *at = listed;
}

/*
 * The cases of a group in the suite. Creates them where the file begins the group, and looks them
 * up where the file continues the group.
 */
static TCase **cases_of(struct listed *group, Suite *suite)
{
    for (struct listed *l = all_listed; l != group; l = l->next)
        if (l->group && strcmp(l->file, group->file) == 0 && strcmp(l->group, group->group) == 0)
            return l->cases;
    for (size_t i = 0; group->makers[i]; i++)
        group->cases[i] = group->makers[i](suite, group->group);
    return group->cases;
}

static void build_listed(Suite *suite)
{
    TCase **cases = NULL;
    const char *file = "";
    for (struct listed *l = all_listed; l; l = l->next) {
        if (l->group) {
            cases = cases_of(l, suite);
            file = l->file;
            continue;
        }
        if (strcmp(file, l->file) != 0) {
            fprintf(stderr, "%s:%d: no GROUP() before this\n", l->file, l->line);
            exit(1);
        }
        for (size_t i = 0; cases[i]; i++) {
            if (l->tag)
                tcase_set_tags(cases[i], l->tag);
            else
                tcase_add_loop_test(cases[i], l->test, l->first, l->first + l->count);
        }
    }
}

int run_tests(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return be_child(argv[2]);
    const char *slash = strrchr(argv[0], '/');
    program_name = slash ? slash + 1 : argv[0];
    if (strncmp(program_name, "lt-", 3) == 0) /* added by libtool */
        program_name += 3;
    name_hangs();
    alarm(MOST_SECONDS);
    name_crashes();
    Suite *suite = suite_create(program_name);
    build_listed(suite);
    SRunner *runner = srunner_create(suite);
    /* Overrides CK_FORK: the state of the driver does not survive a fork. */
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? 0 : 1;
}
