/* SPDX-License-Identifier: Apache-2.0 */
/* The finder of one probe: tries its way, and says what came of it. */
#include "lib/platform/clock.h"
#include "tools/info/finders.h"
#include "tools/info/probe_opengl.h"
#include "tools/info/probe_peer.h"
#include "tools/info/probe_vulkan.h"
#include "tools/info/say.h"

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
    double before = gr_clock_ms();
    bool good = run(&t);
    gr_cuda_context_free(t.context);
    say_result(&t, good, gr_clock_ms() - before);
}
