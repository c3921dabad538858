/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * grinterop-info: reports what works between graphics and CUDA on this machine, and why the rest
 * does not. The main process calls no driver: for each finder it runs this program again in a
 * separate process.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/info/report.h"
#include "tools/options.h"

/* The exit statuses. Errors in the command line exit with 2. */
enum { SOMETHING_WORKS, NOTHING_WORKS, USAGE, PROBE_FAILED, LONGEST_LIMIT = 3600 };

#define ABOUT                                                                                      \
    "Reports what works between OpenGL, Vulkan and CUDA on this machine, and why the rest fails."

static const struct option_section sections[] = {
    {"Output", "Each line has a check mark if it works, a cross if it does not, with the cause and "
               "what to do, or a dot for information. If a driver crashes or hangs, only one line "
               "fails: each check runs in its own process. grinterop-info.schema.json, installed "
               "in share/grinterop, describes the report of --json."},
    {"Exit status", "0 if a way between graphics and CUDA works, 1 if none does, 2 if the command "
                    "line is wrong, 3 if --probe found a way that should work but does not."},
    {"Environment",
     "GR_CUDA_DRIVER selects the CUDA driver, as in every program that uses grinterop: soft is the "
     "software CUDA driver, anything else is a file. If it is not set, grinterop-info loads "
     "libcuda.so.1, or the software driver if libcuda.so.1 does not start, like programs that call "
     "gr_cuda_load(true). GR_CUDA_DRIVER=libcuda.so.1 disables this fallback. --verbose lists the "
     "drivers' own variables that are set."},
    {"Examples", "grinterop-info --probe tests whether bytes arrive. GR_CUDA_DRIVER=soft "
                 "grinterop-info examines the software driver even if there is a GPU. "
                 "grinterop-info --probe --verbose is the output to include in a bug report."},
    {NULL, NULL}};

/*
 * Runs a finder and exits without the drivers' exit handlers, since the findings are already
 * complete.
 */
static void find(const char *finder, const char *root)
{
    bool found = say_begin() && find_by_name(finder, root);
    if (found)
        say_end();
    else
        fprintf(stderr, "grinterop-info: unknown finder %s\n", finder);
    _exit(found ? 0 : USAGE);
}

int main(int argc, char **argv)
{
    const char *finder = NULL;
    bool verbose = false, json = false;
    struct report report = {.limit = 30, .root = ""};
    const struct option_row rows[] = {
        {"verbose", 'v', NULL, "all findings, and the output of drivers", .flag = &verbose},
        {"json", 'j', NULL, "all findings in JSON, for programs", .flag = &json},
        {"probe", 'p', NULL, "try each working way: CUDA writes, graphics reads, and the reverse",
         .flag = &report.probed},
        {"limit", 'l', "SECONDS", "time limit of each check",
         .whole = {&report.limit, 1, LONGEST_LIMIT}},
        {"find", 0, "FINDER", NULL, .text = &finder},
        {"root", 0, "FOLDER", NULL, .text = &report.root},
        {0}};
    const struct option_page page = {"grinterop-info", ABOUT, rows, sections};
    options_read_page(argc, argv, &page);
    if (finder)
        find(finder, report.root);
    /* If the parent process ignores SIGCHLD, waitpid() can't report how a child ended. */
    signal(SIGCHLD, SIG_DFL);
    report.noisy = verbose && !json;
    report_collect(&report);
    if (json)
        report_print_json(&report);
    else
        report_print_screen(&report, verbose);
    int status = !report.working ? NOTHING_WORKS : report.failed ? PROBE_FAILED : SOMETHING_WORKS;
    report_free(&report);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("grinterop-info: cannot write the report");
        return NOTHING_WORKS;
    }
    return status;
}
