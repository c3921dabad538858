/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Peers of test_share. A process needs seconds to start CUDA and OpenGL on a GPU, so one child
 * serves all jobs until one of them kills it. The child receives a job name and a socket, and
 * reports when the job is done.
 */
#define _GNU_SOURCE
#include <grinterop/cuda.h>

#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fd_message.h"

#define NAME_SIZE 64

/* Limits for the child: its start in milliseconds, and its run time in seconds. */
#define START_MS      60000
#define CHILD_SECONDS 600

void tell(int socket)
{
    ck_assert_int_eq(send(socket, "!", 1, MSG_NOSIGNAL), 1);
}

static bool hear_within(int socket, int ms)
{
    char byte;
    struct pollfd one = {.fd = socket, .events = POLLIN};
    return poll(&one, 1, ms) == 1 && recv(socket, &byte, 1, 0) == 1;
}

void hear(int socket)
{
    ck_assert(hear_within(socket, SOON));
}

/* ---- Passing jobs ---------------------------------------------------------------------------- */

/* Receives the socket of the next job, or -1 when there are no more jobs. */
static int receive_job(int from, char name[NAME_SIZE])
{
    int socket = -1;
    size_t count = 1;
    ssize_t size = fd_receive(from, name, NAME_SIZE, &socket, &count, MSG_WAITALL);
    ck_assert(size == 0 || (size == NAME_SIZE && count == 1));
    return socket;
}

/* ---- The child ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(int socket);
} jobs[] = {
    {"reads_and_writes", job_reads_and_writes},
    {"reads_an_image", job_reads_an_image},
    {"takes_turns_by_semaphores", job_takes_turns_by_semaphores},
    {"produces", job_produces},
    {"consumes_all", job_consumes_all},
    {"consumes_the_newest", job_consumes_the_newest},
    {"dies_in_a_frame", job_dies_in_a_frame},
    {"dies_after", job_dies_after},
    {"dies_at_once", job_dies_at_once},
    {"kernel_fails", job_kernel_fails},
    {"ends_at_once", job_ends_at_once},
};

static void run_job(const char *name, int socket)
{
    for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
        if (strcmp(jobs[i].name, name) == 0) {
            jobs[i].run(socket);
            return;
        }
    ck_abort_msg("there is no job named %s", name);
}

CHILD(serves)
{
    const char *number = getenv("CHILD_FD");
    char name[NAME_SIZE];
    int control, socket;
    alarm(CHILD_SECONDS);
    child_check(number);
    control = atoi(number);
    ck_assert_int_eq(fcntl(control, F_SETFD, FD_CLOEXEC), 0);
    fixture_setup();
    tell(control);
    while ((socket = receive_job(control, name)) >= 0) {
        run_job(name, socket);
        gr_clear_error();
        tell(control);
    }
    fx.fds = -1; /* not compared, since drivers keep descriptors that they open on first use */
    fixture_teardown();
    close(control);
    return 0;
}

CHILD(has_no_vulkan)
{
    const char *number = getenv("CHILD_FD");
    alarm(CHILD_SECONDS);
    child_check(number);
    int socket = atoi(number);
    ck_assert_int_eq(fcntl(socket, F_SETFD, FD_CLOEXEC), 0);
    fixture_setup();
    tell(socket);
    job_reads_and_writes(socket);
    fx.fds = -1;
    fixture_teardown();
    return 0;
}

CHILD(dies_before)
{
    raise(SIGKILL);
    return 1;
}

/* ---- The test process ------------------------------------------------------------------------ */

/*
 * The serving child (0 while it is not running), and the socket to it, which stays open after the
 * child has died.
 */
static pid_t server;
static int control = -1;
static bool busy; /* nobody has waited for the job that the child is running */

static pid_t spawn(const char *child, int socket)
{
    char number[16];
    pid_t pid = 0;
    ck_assert_int_eq(fcntl(socket, F_SETFD, 0), 0);
    snprintf(number, sizeof(number), "%d", socket);
    setenv("CHILD_FD", number, 1);
    int failed = child_spawn(&pid, child, NULL);
    unsetenv("CHILD_FD");
    close(socket);
    ck_assert_msg(failed == 0, "the child %s did not start: %s", child, strerror(failed));
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    return status;
}

static int wait_for_server(void)
{
    pid_t pid = server;
    server = 0;
    busy = false;
    return wait_for(pid);
}

/* Ends the child after a failed case, so that its remaining work cannot disturb the next case. */
static void kill_server(void)
{
    kill(server, SIGKILL);
    wait_for_server();
}

/*
 * Starts the serving child before the first case, so that its socket is already open when cases
 * count descriptors.
 */
static void serve(void)
{
    if (server != 0 && busy)
        kill_server();
    if (server != 0)
        return;
    if (control >= 0)
        close(control);
    struct pair pair = pair_make();
    control = pair.here;
    server = spawn("serves", pair.there);
    if (hear_within(control, START_MS))
        return;
    kill_server();
    ck_abort_msg("the serving child did not start");
}

struct peer peer_start_sharing_its_end(const char *job, int *end)
{
    serve();
    struct pair pair = pair_make();
    char text[NAME_SIZE] = "";
    snprintf(text, sizeof(text), "%s", job);
    ck_assert_int_eq(fd_send(control, text, sizeof(text), &pair.there, 1, MSG_NOSIGNAL), NAME_SIZE);
    *end = pair.there;
    busy = true;
    return (struct peer){.socket = pair.here};
}

struct peer peer_start(const char *job)
{
    int end;
    struct peer peer = peer_start_sharing_its_end(job, &end);
    close(end);
    return peer;
}

static char *kept(const char *variable)
{
    const char *value = getenv(variable);
    return value ? strdup(value) : NULL;
}

static void put_back(const char *variable, char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
    free(value);
}

struct peer peer_without_vulkan(void)
{
    struct pair pair = pair_make();
    char *files = kept("VK_DRIVER_FILES"), *older = kept("VK_ICD_FILENAMES");
    /* Processes might otherwise differ in whether Vulkan has the device of the software driver. */
    setenv("VK_DRIVER_FILES", "/nonexistent", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent", 1);
    struct peer peer = {.pid = spawn("has_no_vulkan", pair.there), .socket = pair.here};
    put_back("VK_DRIVER_FILES", files);
    put_back("VK_ICD_FILENAMES", older);
    if (!hear_within(peer.socket, START_MS))
        ck_abort_msg("the child without Vulkan did not start");
    return peer;
}

void peer_end_alone(struct peer *peer)
{
    int status = wait_for(peer->pid);
    close(peer->socket);
    ck_assert_msg(status == 0, "the child ended with 0x%x", (unsigned)status);
}

struct peer peer_that_dies_before(void)
{
    struct pair pair = pair_make();
    return (struct peer){.pid = spawn("dies_before", pair.there), .socket = pair.here};
}

void peer_end(struct peer *peer, bool taken)
{
    bool done = hear_within(control, SOON);
    if (!taken)
        close(peer->socket);
    busy = false;
    if (done)
        return;
    kill(server, SIGKILL); /* no effect if it has already exited */
    ck_abort_msg("the child did not do its job; it ended with 0x%x", (unsigned)wait_for_server());
}

void peer_end_killed(struct peer *peer, bool taken)
{
    int status = peer->pid != 0 ? wait_for(peer->pid) : wait_for_server();
    if (!taken)
        close(peer->socket);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child ended with 0x%x",
                  (unsigned)status);
}

TCase *add_share_case(Suite *suite, const char *name)
{
    TCase *made = add_vulkan_case(suite, name);
    tcase_add_unchecked_fixture(made, serve, NULL);
    return with_sharing(made);
}

GROUP("end of the child", add_bare_case)

TEST(the_serving_child_exits_without_an_error)
{
    if (server == 0)
        return;
    if (busy)
        kill_server();
    close(control);
    control = -1;
    int status = server != 0 ? wait_for_server() : 0;
    ck_assert_msg(status == 0, "the child ended with 0x%x", (unsigned)status);
}
