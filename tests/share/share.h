/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources and rings between two processes: how test_share starts a peer, and the parts of the
 * program.
 */
#ifndef GR_TESTS_SHARE_H
#define GR_TESTS_SHARE_H

#include <sys/types.h>

#include <grinterop/share.h>

#include "tests/support/child_check.h"
#include "tests/support/support_vulkan.h"

/* The size of a resource in bytes; a timeout in milliseconds that nothing here reaches. */
#define SHARE_SIZE 65536
#define SOON       20000

/* A peer: the other end of a socket, in a child process. */
struct peer {
    int socket;
    pid_t pid; /* of a child for this peer alone; 0 for a job of the serving child */
};

/* A case with Vulkan's fixture and the child that serves all jobs. */
TCase *add_share_case(Suite *suite, const char *name);

/* Makes that child run a job in its fixture. Its output is part of the test's. */
struct peer peer_start(const char *job);

/* A child that dies before doing anything. */
struct peer peer_that_dies_before(void);

/* A child that cannot see Vulkan and that reads and writes OpenGL's resource; and its end. */
struct peer peer_without_vulkan(void);
void peer_end_alone(struct peer *peer);

/*
 * Waits for the end of the job or of the child, closes the socket unless `taken`, and checks how it
 * ended.
 */
void peer_end(struct peer *peer, bool taken);
void peer_end_killed(struct peer *peer, bool taken);

/* Sends one byte to the other side, which waits for it. */
void tell(int socket);
void hear(int socket);

/* A connected pair of sockets in this process. */
struct pair {
    int here, there;
};
struct pair pair_make(void);
void pair_close(struct pair *pair);

/* The jobs of the serving child. A job owns its socket. */
void job_reads_and_writes(int socket);
void job_reads_and_writes_opengls(int socket);
void job_reads_an_image(int socket);
void job_takes_turns_by_semaphores(int socket);
void job_produces(int socket);
void job_consumes_all(int socket);
void job_consumes_the_newest(int socket);
void job_dies_in_a_frame(int socket);
void job_dies_after(int socket);
void job_ends_at_once(int socket);

#endif
