/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The semaphores of the software driver between two processes. A child inherits one descriptor,
 * whose number is in CHILD_FD. This descriptor is a socket, through which the child receives the
 * semaphores, as in an application.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_semaphore.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fd_message.h"

#define ROUNDS 100
#define FDS    3

/* The indices of the descriptors that a child receives. */
enum { HERE, THERE, MEMORY };

/* ---- Passing descriptors --------------------------------------------------------------------- */

static void receive_fds(int fds[FDS])
{
    const char *number = getenv("CHILD_FD");
    child_check(number);
    char byte;
    size_t count = FDS;
    child_check(fd_receive(atoi(number), &byte, 1, fds, &count, 0) == 1 && count == FDS);
    close(atoi(number));
}

/*
 * Runs the child, which receives the descriptors from its socket. The caller keeps its own
 * descriptors.
 */
static int run_with(const char *child, const int fds[FDS], char *text, size_t size)
{
    int ends[2];
    char number[16];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFD, 0), 0);
    snprintf(number, sizeof(number), "%d", ends[1]);
    setenv("CHILD_FD", number, 1);
    ck_assert_int_eq(fd_send(ends[0], "", 1, fds, FDS, 0), 1);
    int status = child_run(child, text, size);
    unsetenv("CHILD_FD");
    close(ends[0]);
    close(ends[1]);
    return status;
}

GROUP("two processes", add_case)

/* Maps a number in shared memory, which the two processes write in turns. */
static volatile unsigned *map_number(int fd)
{
    void *mapped = mmap(NULL, sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    return mapped;
}

/* One step of a process: it checks that the number is the last number of the other process. */
struct step {
    volatile unsigned *number;
    unsigned expected;
    unsigned *wrong;
};

static void CUDA_CB take_step(void *user)
{
    const struct step *step = user;
    if (*step->number != step->expected)
        ++*step->wrong;
    *step->number = step->expected + 1;
}

static void put_step(struct step *step, volatile unsigned *number, unsigned expected,
                     unsigned *wrong)
{
    *step = (struct step){number, expected, wrong};
    CU(LaunchHostFunc(fx.stream, take_step, step));
}

/* The child answers each timeline signal with a binary signal. */
CHILD(take_turns)
{
    int fds[FDS];
    unsigned wrong = 0;
    struct step steps[ROUNDS];
    alarm(50);
    fixture_setup();
    child_check(soft_semaphores_load());
    receive_fds(fds);
    volatile unsigned *number = map_number(fds[MEMORY]);
    CUexternalSemaphore here = import_fd(fds[HERE], TIMELINE);
    CUexternalSemaphore there = import_fd(fds[THERE], BINARY);
    for (unsigned i = 0; i < ROUNDS; i++) {
        put_wait(here, i + 1, fx.stream);
        put_step(&steps[i], number, 2 * i + 1, &wrong);
        put_signal(there, 0, fx.stream);
    }
    CU(StreamSynchronize(fx.stream));
    child_check(wrong == 0);
    return 0;
}

SEMAPHORE_TEST(two_processes_take_turns)
{
    char text[4096];
    unsigned wrong = 0;
    struct step steps[ROUNDS];
    const int fds[FDS] = {make_fd(true, 0), make_fd(false, 0), memfd_create("number", MFD_CLOEXEC)};
    ck_assert_int_eq(ftruncate(fds[MEMORY], sizeof(unsigned)), 0);
    volatile unsigned *number = map_number(fds[MEMORY]);
    CUexternalSemaphore here = import_copy(fds[HERE], TIMELINE);
    CUexternalSemaphore there = import_copy(fds[THERE], BINARY);
    /*
     * All work is queued before the child starts, and runs while this thread waits for the end of
     * the child.
     */
    for (unsigned i = 0; i < ROUNDS; i++) {
        put_step(&steps[i], number, 2 * i, &wrong);
        put_signal(here, i + 1, fx.stream);
        put_wait(there, 0, fx.stream);
    }
    assert_waits(fx.stream);
    int status = run_with("take_turns", fds, text, sizeof(text));
    ck_assert_msg(status == 0, "the child ended with 0x%x: %.3500s", (unsigned)status, text);
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(*number, 2 * ROUNDS);
    munmap((void *)number, sizeof(unsigned));
    for (int i = 0; i < FDS; i++)
        close(fds[i]);
}

/* ---- A peer that dies ------------------------------------------------------------------------ */

/* Signals 1000 values, then dies while one of its streams still waits. */
CHILD(die_while_waiting)
{
    int fds[FDS];
    alarm(50);
    fixture_setup();
    child_check(soft_semaphores_load());
    receive_fds(fds);
    CUexternalSemaphore here = import_fd(fds[HERE], TIMELINE);
    CUexternalSemaphore there = import_fd(fds[THERE], BINARY);
    put_wait(there, 0, fx.other);
    for (unsigned i = 1; i <= 1000; i++)
        put_signal(here, i, fx.stream);
    put_wait(here, 1, CU_STREAM_LEGACY);
    CU(StreamSynchronize(CU_STREAM_LEGACY));
    raise(SIGKILL);
    return 1;
}

SEMAPHORE_TEST(semaphores_still_work_after_a_peer_died)
{
    char text[4096];
    const int fds[FDS] = {make_fd(true, 0), make_fd(false, 0), make_fd(false, 0)};
    CUexternalSemaphore here = import_copy(fds[HERE], TIMELINE);
    CUexternalSemaphore there = import_copy(fds[THERE], BINARY);
    put_wait(here, 1, fx.stream);
    int status = run_with("die_while_waiting", fds, text, sizeof(text));
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "0x%x: %s", (unsigned)status,
                  text);
    CU(StreamSynchronize(fx.stream));
    put_signal(here, 5000, fx.stream);
    put_wait(here, 5000, fx.other);
    put_signal(there, 0, fx.other);
    put_wait(there, 0, fx.stream);
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < FDS; i++)
        close(fds[i]);
}

/*
 * Simulates a peer that dies after it has written the value, before it wakes the waiting threads.
 */
SEMAPHORE_TEST(wait_notices_a_value_without_a_wake_up)
{
    const unsigned long long first = 0x1122334455667788;
    int fd = make_fd(true, first);
    struct stat file;
    ck_assert_int_eq(fstat(fd, &file), 0);
    size_t words = (size_t)file.st_size / sizeof(first), at = 0;
    unsigned long long *shared =
        mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    while (at < words && shared[at] != first)
        at++;
    ck_assert_uint_lt(at, words);
    CUexternalSemaphore t = import_fd(fd, TIMELINE);
    put_wait(t, first + 1, fx.stream);
    assert_waits(fx.stream);
    __atomic_store_n(&shared[at], first + 1, __ATOMIC_RELEASE);
    CU(StreamSynchronize(fx.stream));
    munmap(shared, (size_t)file.st_size);
}

/* A peer that overwrites the shared memory only corrupts the values. */
SEMAPHORE_TEST(hostile_peer_only_corrupts_the_values)
{
    int fd = make_fd(true, 0);
    unsigned char noise[256];
    memset(noise, 0xff, sizeof(noise));
    CUexternalSemaphore t = import_copy(fd, TIMELINE), again = NULL;
    put_wait(t, 1, fx.stream);
    assert_waits(fx.stream);
    struct stat file;
    ck_assert_int_eq(fstat(fd, &file), 0);
    ck_assert_int_eq(pwrite(fd, noise, (size_t)file.st_size, 0), file.st_size);
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, file.st_size), 0);
    put_wait(t, 1, fx.stream);
    assert_waits(fx.stream);
    put_signal(t, 1, fx.other);
    CU(StreamSynchronize(fx.stream));
    /* The task of fx.other also has a reference to the semaphore. */
    CU(StreamSynchronize(fx.other));
    CU(DestroyExternalSemaphore(t));
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(fd, TIMELINE, &again), "what is left");
    close(fd);
}
