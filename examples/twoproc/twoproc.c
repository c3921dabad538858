/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * twoproc: a renderer and a CUDA program in two processes. The program starts itself again,
 * connected by a socket.
 *
 *     build/examples/twoproc/twoproc   writes twoproc.png; --help lists the options
 *
 * share_ring() of twoproc_draw.c sends the ring, and open_computer() of twoproc_compute.c receives
 * it.
 */
#define _GNU_SOURCE
#include "twoproc.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/options.h"

extern char **environ;

/* ---- The two processes ----------------------------------------------------------------------- */

/*
 * Starts the second process. Neither CUDA nor OpenGL survives a fork, so the second process
 * executes the program anew.
 */
static pid_t start_computer(const struct twoproc_options *options, int socket)
{
    char program[] = "/proc/self/exe", compute[] = "--compute", mesh_is[] = "--mesh",
         frames_are[] = "--frames", number[16], mesh[16], frames[16];
    snprintf(number, sizeof(number), "%d", socket);
    snprintf(mesh, sizeof(mesh), "%d", options->mesh);
    snprintf(frames, sizeof(frames), "%d", options->frames);
    char *arguments[] = {program, compute, number, mesh_is, mesh, frames_are, frames, NULL};
    pid_t pid = -1;
    int failed = posix_spawn(&pid, program, NULL, NULL, arguments, environ);
    if (failed == 0)
        return pid;
    fprintf(stderr, "Cannot start a second process: %s.\n", strerror(failed));
    return -1;
}

static bool stop_computer(pid_t pid, bool killed)
{
    int status = 0;
    if (waitpid(pid, &status, 0) < 0)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return killed && WIFSIGNALED(status);
}

static bool run_both(const struct twoproc_options *options)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        fcntl(ends[1], F_SETFD, 0) != 0) {
        perror("socketpair");
        return false;
    }
    pid_t computer = start_computer(options, ends[1]);
    close(ends[1]);
    if (computer < 0) {
        close(ends[0]);
        return false;
    }
    bool drawn = twoproc_draw(options, ends[0], computer);
    return stop_computer(computer, options->kill) && drawn;
}

/* ---- Options --------------------------------------------------------------------------------- */

/* Reads the options. *socket is the socket of the process that computes. */
static void read_options(int argc, char **argv, struct twoproc_options *o, int *socket)
{
    const struct option_row rows[] = {
        {"output", 'o', "FILE", "the picture of the last frame", .text = &o->output},
        {"size", 's', "WxH", "its size in pixels", .size = {&o->width, &o->height}},
        {"mesh", 'm', "N", "vertices along each side of the surface", .whole = {&o->mesh, 2, 2048}},
        {"frames", 'f', "N", "number of frames", .whole = {&o->frames, 1, 100000}},
        {"kill", 'k', NULL, "kill the computing process halfway through the frames",
         .flag = &o->kill},
        {"compute", 0, "SOCKET", NULL, .whole = {socket, 0, 1 << 20}},
        {0},
    };
    options_read(argc, argv, "twoproc", rows,
                 "One process draws with OpenGL, another writes the vertices with CUDA. They share "
                 "a ring of buffers through a socket.",
                 OPTIONS_CUDA_NOTES);
}

int main(int argc, char **argv)
{
    struct twoproc_options options = {
        .width = 1280, .height = 720, .mesh = 512, .frames = 90, .output = "twoproc.png"};
    int socket = -1;
    read_options(argc, argv, &options, &socket);
    setvbuf(stdout, NULL, _IOLBF, 0); /* Both processes write to the output. */
    const bool done = socket >= 0 ? twoproc_compute(&options, socket) : run_both(&options);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
