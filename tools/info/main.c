/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grinterop-info: says what works between graphics and CUDA on this machine, and why the rest does
 * not. It asks nothing of a driver itself: each finder is this program once more, in a process of
 * its own.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/info/collect.h"
#include "tools/info/finders.h"
#include "tools/info/json.h"
#include "tools/info/say.h"
#include "tools/info/screen.h"
#include "tools/options.h"

/* Exit statuses: what is wrong with the command line, too, is 2. */
enum { SOMETHING_WORKS, NOTHING_WORKS, USAGE, PROBE_FAILED, LONGEST_LIMIT = 3600 };

/*
 * Without what a driver does at the end of a process: no answer depends on it any more.
 */
static void find(const char *finder, const char *root)
{
    bool found = say_begin() && finders_run(finder, root);
    if (found)
        say_end();
    else
        fprintf(stderr, "grinterop-info: there is no finder %s\n", finder);
    _exit(found ? 0 : USAGE);
}

int main(int argc, char **argv)
{
    const char *finder = NULL;
    bool verbose = false, json = false, probe = false;
    struct child_rules rules = {.limit = 30, .root = ""};
    const struct option_row rows[] = {
        {"verbose", 'v', NULL, "all that was found, and what drivers print", .flag = &verbose},
        {"json", 'j', NULL, "the same for programs, all of it", .flag = &json},
        {"probe", 'p', NULL,
         "tries each way that works with bytes: CUDA writes, graphics reads, "
         "and back",
         .flag = &probe},
        {"limit", 'l', "SECONDS", "how long each question may take",
         .whole = {&rules.limit, 1, LONGEST_LIMIT}},
        {"find", 0, "FINDER", NULL, .text = &finder},
        {"root", 0, "FOLDER", NULL, .text = &rules.root},
        {0}};
    options_read(
        argc, argv, "grinterop-info", rows,
        "Says what works between OpenGL, Vulkan and CUDA on this machine, and why the "
        "rest does not.",
        "It takes the CUDA driver that a program would get: GR_CUDA_DRIVER's, else "
        "libcuda.so.1, else the software CUDA driver; GR_CUDA_DRIVER=libcuda.so.1 leaves "
        "the last out. The exit status is 0 if a way between graphics and CUDA works, 1 "
        "if none does, 2 if the command line is wrong, 3 if --probe found a way that should "
        "work and does not.");
    if (finder)
        find(finder, rules.root);
    struct report report;
    rules.noisy = verbose && !json;
    collect(&rules, probe, &report);
    if (json)
        json_print(&report);
    else
        screen_print(&report, verbose);
    int status = !report.working ? NOTHING_WORKS : report.failed ? PROBE_FAILED : SOMETHING_WORKS;
    report_free(&report);
    return status;
}
