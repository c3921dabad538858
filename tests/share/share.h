/* SPDX-License-Identifier: Apache-2.0 */
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

/* Bytes of a resource; milliseconds that nothing here takes. */
#define SHARE_SIZE 65536
#define SOON       20000

/* The other end of a socket, in a child of the program. */
struct peer {
    int socket;
    pid_t pid; /* of a child for this peer alone, 0 for a job of the one that serves all */
};

/* A case with Vulkan's fixture and the child that serves. */
TCase *add_share_case(Suite *suite, const char *name);

/* Has that child do a job, in its fixture. Its output is the test's. */
struct peer peer_start(const char *job);

/* A child that dies before it has done anything. */
struct peer peer_that_dies_before(void);

/* A child from which Vulkan is hidden, with the job of reading and writing OpenGL's; and its end.
 */
struct peer peer_without_vulkan(void);
void peer_end_alone(struct peer *peer);

/*
 * Waits for the end of the job, or of the child; closes the socket unless `taken`; and checks how
 * it ended.
 */
void peer_end(struct peer *peer, bool taken);
void peer_end_killed(struct peer *peer, bool taken);

/* One byte from one side to the other, which waits for it. */
void tell(int socket);
void hear(int socket);

/* A connected pair of sockets in this process. */
struct pair {
    int here, there;
};
struct pair pair_make(void);
void pair_close(struct pair *pair);

/* The children, and the jobs of the one that serves. The socket is the job's. */
int child_serves(void);
int child_dies_before(void);
int child_has_no_vulkan(void);
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
