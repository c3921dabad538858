/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twoproc: a renderer and a CUDA program that are two processes. The program starts itself a second
 * time, with a socket between; the hand-over is in share_ring() of twoproc_draw.c and in
 * open_computer() of twoproc_compute.c.
 */
#define _GNU_SOURCE
#include "twoproc.h"

#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grinterop/gr.h>

#include "options.h"

extern char **environ;

/* ---- The two processes ----------------------------------------------------------------------- */

/* Neither CUDA nor OpenGL survives a fork: the other process starts from the beginning. */
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

static bool end_computer(pid_t pid, bool killed)
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
    return end_computer(computer, options->kill) && drawn;
}

/* ---- Options --------------------------------------------------------------------------------- */

static void print_help(void)
{
    puts("Usage: twoproc [OPTION]...\n"
         "One process draws with OpenGL, another writes the vertices with CUDA; a ring of buffers\n"
         "goes from one to the other through a socket.\n"
         "\n"
         "  -o, --output FILE   the picture of the last frame (default twoproc.png)\n"
         "  -s, --size WxH      its size in pixels (default 1280x720)\n"
         "  -m, --mesh N        vertices along each side of the surface, 2 to 2048 (default 512)\n"
         "  -f, --frames N      how many frames there are, 1 to 100000 (default 90)\n"
         "  -k, --kill          kill the process that computes in the middle of its frames\n"
         "  -h, --help          this text\n"
         "  -V, --version       the version of grinterop\n"
         "\n"
         "It runs on the first CUDA device, or without a GPU on the software CUDA driver, which\n"
         "GR_CUDA_DRIVER=soft in the environment also asks for.");
}

/*
 * The exit status where the program is to end at once, else -1. *socket: of the process that
 * computes.
 */
static int parse(int argc, char **argv, struct twoproc_options *options, int *socket)
{
    static const struct option names[] = {
        {"output", required_argument, NULL, 'o'},
        {"size", required_argument, NULL, 's'},
        {"mesh", required_argument, NULL, 'm'},
        {"frames", required_argument, NULL, 'f'},
        {"kill", no_argument, NULL, 'k'},
        {"compute", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    bool fine = true;
    for (int c; fine && (c = getopt_long(argc, argv, "o:s:m:f:khV", names, NULL)) != -1;) {
        if (c == 'o')
            options->output = optarg;
        else if (c == 's')
            fine = option_size("--size", optarg, &options->width, &options->height);
        else if (c == 'm')
            fine = option_int("--mesh", optarg, 2, 2048, &options->mesh);
        else if (c == 'f')
            fine = option_int("--frames", optarg, 1, 100000, &options->frames);
        else if (c == 'k')
            options->kill = true;
        else if (c == 'c')
            fine = option_int("--compute", optarg, 0, 1 << 20, socket);
        else if (c == 'h')
            return print_help(), 0;
        else if (c == 'V')
            return printf("twoproc (grinterop) %s\n", gr_library_version()), 0;
        else
            fine = false;
    }
    return options_end("twoproc", argc, argv, fine);
}

int main(int argc, char **argv)
{
    struct twoproc_options options = {
        .width = 1280, .height = 720, .mesh = 512, .frames = 90, .output = "twoproc.png"};
    int socket = -1;
    const int status = parse(argc, argv, &options, &socket);
    if (status >= 0)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0); /* two processes write to it */
    const bool done = socket >= 0 ? twoproc_compute(&options, socket) : run_both(&options);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
