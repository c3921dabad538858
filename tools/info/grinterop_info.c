/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grinterop-info: says what works between graphics and CUDA on this machine, and why the rest does
 * not. It asks nothing of a driver itself: each finder is this program once more, in a process of
 * its own.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/info/find.h"
#include "tools/info/report.h"
#include "tools/options.h"

/* Exit statuses: what is wrong with the command line, too, is 2. */
enum { SOMETHING_WORKS, NOTHING_WORKS, USAGE, PROBE_FAILED, LONGEST_LIMIT = 3600 };

#define ABOUT                                                                                      \
    "Says what works between OpenGL, Vulkan and CUDA on this machine, and why the rest does not."

static const struct option_section sections[] = {
    {"Output",
     "Each line has a check mark for what works, a cross for what does not, with the cause and "
     "what to do, or a dot for what is worth knowing. A driver that crashes or hangs costs a line: "
     "each question is asked in a process of its own. The report of --json is described by "
     "grinterop-info.schema.json, which is installed in share/grinterop."},
    {"Exit status",
     "0 if a way between graphics and CUDA works, 1 if none does, 2 if the command line is "
     "wrong, 3 if --probe found a way that should work and does not."},
    {"Environment",
     "GR_CUDA_DRIVER is the CUDA driver that is asked, as by every program that uses grinterop: "
     "soft is the software CUDA driver, anything else a file. Without it that is libcuda.so.1, or "
     "the software driver if that does not start; GR_CUDA_DRIVER=libcuda.so.1 leaves the last out, "
     "as programs do that do not call gr_cuda_load(true). "
     "--verbose lists the drivers' own variables that are set."},
    {"Examples",
     "grinterop-info --probe says whether bytes arrive. GR_CUDA_DRIVER=soft grinterop-info looks "
     "at the software driver although there is a GPU. grinterop-info --probe --verbose is what "
     "belongs into a report of a bug."},
    {NULL, NULL}};

/* Without what a driver does at the end of a process: no answer depends on it any more. */
static void find(const char *finder, const char *root)
{
    bool found = say_begin() && find_by_name(finder, root);
    if (found)
        say_end();
    else
        fprintf(stderr, "grinterop-info: there is no finder %s\n", finder);
    _exit(found ? 0 : USAGE);
}

int main(int argc, char **argv)
{
    const char *finder = NULL;
    bool verbose = false, json = false;
    struct report report = {.limit = 30, .root = ""};
    const struct option_row rows[] = {
        {"verbose", 'v', NULL, "all that was found, and what drivers print", .flag = &verbose},
        {"json", 'j', NULL, "the same for programs, all of it", .flag = &json},
        {"probe", 'p', NULL,
         "try each way that works with bytes: CUDA writes, graphics reads, and back",
         .flag = &report.probed},
        {"bench", 'b', NULL, "measure maps, frames in order and frames in flight, for some seconds",
         .flag = &report.measured},
        {"limit", 'l', "SECONDS", "how long each question may take",
         .whole = {&report.limit, 1, LONGEST_LIMIT}},
        {"find", 0, "FINDER", NULL, .text = &finder},
        {"root", 0, "FOLDER", NULL, .text = &report.root},
        {0}};
    const struct option_page page = {"grinterop-info", ABOUT, rows, sections};
    options_read_page(argc, argv, &page);
    if (finder)
        find(finder, report.root);
    /* Some parents leave it ignored: then nobody hears how a child ended. */
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
        perror("grinterop-info: the report could not be written");
        return NOTHING_WORKS;
    }
    return status;
}
