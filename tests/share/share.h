/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources and rings between two processes: how test_share starts a peer, and what the parts of
 * the program share.
 */
#ifndef GR_TESTS_SHARE_H
#define GR_TESTS_SHARE_H

#include <sys/types.h>

#include <grinterop/share.h>

#include "tests/support/child_check.h"
#include "tests/support/support_vulkan.h"

/*
 * SHARE_SIZE is the size of a resource in bytes. SOON is a timeout in milliseconds, longer than any
 * wait in these tests.
 */
#define SHARE_SIZE 65536
#define SOON       20000

/* A peer: a child process, and this process's end of the socket to it. */
struct peer {
    int socket;
    pid_t pid; /* the pid of a child for this peer alone; 0 for a job of the serving child */
};

/* Adds a case with Vulkan's fixture. The child that serves all jobs runs during the case. */
TCase *add_share_case(Suite *suite, const char *name);

/*
 * Makes the serving child run a job in its own fixture. The output of the child is part of the
 * test's output.
 */
struct peer peer_start(const char *job);

/* The same, but the peer's end of the socket stays open in this process. */
struct peer peer_start_sharing_its_end(const char *job, int *end);

/* Starts a child that dies before it does anything. */
struct peer peer_that_dies_before(void);

/*
 * peer_without_vulkan() starts a child that cannot see Vulkan and that reads and writes an OpenGL
 * resource. peer_end_alone() waits for the child to end.
 */
struct peer peer_without_vulkan(void);
void peer_end_alone(struct peer *peer);

/*
 * Waits for the end of the job or of the child, closes the socket unless a ring took it (`taken`),
 * and checks how the job or child ended.
 */
void peer_end(struct peer *peer, bool taken);
void peer_end_killed(struct peer *peer, bool taken);

/* tell() sends one byte to the other process, and hear() waits for one. */
void tell(int socket);
void hear(int socket);

/* A connected pair of sockets in this process. */
struct pair {
    int here, there;
};
struct pair pair_make(void);
void pair_close(struct pair *pair);

/* The jobs of the serving child. Each job closes its socket. */
void job_reads_and_writes(int socket);
void job_reads_an_image(int socket);
void job_takes_turns_by_semaphores(int socket);
void job_produces(int socket);
void job_consumes_all(int socket);
void job_consumes_the_newest(int socket);
void job_dies_in_a_frame(int socket);
void job_dies_after(int socket);
void job_dies_at_once(int socket);
void job_kernel_fails(int socket);
void job_ends_at_once(int socket);

#endif
