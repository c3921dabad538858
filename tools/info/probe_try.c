/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/info/probe_try.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/info/finders.h"
#include "tools/info/say.h"

/* ---- What goes wrong ------------------------------------------------------------------------- */

bool probe_fail(struct probe_try *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->failure, sizeof(t->failure), format, arguments);
    va_end(arguments);
    return false;
}

bool probe_error(struct probe_try *t)
{
    const gr_error *error = gr_last_error();
    t->error = gr_status_name(error->status);
    t->code = *error->code_name ? error->code_name : NULL;
    if (!t->code)
        return probe_fail(t, "%s", error->message);
    return probe_fail(t, "%s (%s: %s)", error->message, error->call, t->code);
}

bool probe_not_made(struct probe_try *t)
{
    t->absent = gr_last_error()->status == GR_ERR_UNSUPPORTED;
    return probe_error(t);
}

bool probe_is_cuda_fine(struct probe_try *t, CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (t->cu->GetErrorName(result, &t->code) != CUDA_SUCCESS)
        t->code = "a code without a name";
    return probe_fail(t,
                      "%s answered %s to a copy that is no more than that. Look at the kernel's "
                      "messages (dmesg: NVRM, Xid); restart the program, and the machine if it "
                      "stays so.",
                      call, t->code);
}

/* ---- The probe ------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static bool run(struct probe_try *t)
{
#ifdef INFO_VULKAN
    if (t->probe->api == PROBE_VULKAN)
        return probe_vulkan(t);
#endif
    if (t->probe->api == PROBE_CUDA)
        return probe_peer(t);
#ifdef INFO_OPENGL
    if (t->probe->api != PROBE_VULKAN)
        return probe_opengl(t);
#endif
    return probe_fail(t, "grinterop was built without it.");
}

static void say_result(const struct probe_try *t, bool good, double ms)
{
    char id[96], label[160];
    probe_id(t->probe, id, sizeof(id));
    probe_label(t->probe, label, sizeof(label));
    say(id, good ? MARK_GOOD : MARK_BAD, label, "%s",
        good ? "Both sides read what the other one wrote." : t->failure);
    say_fact("ms", "%.1f", ms);
    say_fact("kernel", "%s", t->kernel_ran ? "yes" : "no");
    if (t->error)
        say_fact("error", "%s", t->error);
    if (t->code)
        say_fact("code", "%s", t->code);
    if (t->absent)
        say_fact("expected", "no");
}

void find_probe(const struct find *find)
{
    static struct probe_try t;
    struct probe probe;
    if (!probe_parse(find->argument, &probe))
        return;
    t.probe = &probe;
    double before = now_ms();
    bool good = run(&t);
    gr_cuda_context_free(t.context);
    say_result(&t, good, now_ms() - before);
}
