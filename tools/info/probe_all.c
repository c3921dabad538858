/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/probe_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/info/probe.h"

static void probe_one(const struct child_rules *rules, struct report *report,
                      const struct probe *probe)
{
    char id[96], label[160];
    probe_id(probe, id, sizeof(id));
    probe_label(probe, label, sizeof(label));
    child_find(rules, id, probe->software ? "soft" : report->driver, label,
               &report->sections[SECTION_PROBES]);
}

static void probe_what(const struct child_rules *rules, struct report *report, struct probe probe,
                       const char *what)
{
    snprintf(probe.what, sizeof(probe.what), "%s", what);
    probe_one(rules, report, &probe);
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static bool reaches(const struct report *report, int from, int to)
{
    char id[48];
    snprintf(id, sizeof(id), "cuda/peer/%d/%d", from, to);
    const struct finding *peer = report_find(report, SECTION_CUDA, id);
    return peer && strcmp(finding_fact(peer, "reaches"), "yes") == 0;
}

/* Each pair once, as a probe goes both ways. */
static void probe_pairs(const struct child_rules *rules, struct report *report, int count)
{
    struct probe probe = {.api = PROBE_CUDA};
    for (probe.device = 0; probe.device < count; probe.device++)
        for (int other = probe.device + 1; other < count; other++) {
            probe.cuda_device = other;
            if (reaches(report, probe.device, other) && reaches(report, other, probe.device))
                probe_what(rules, report, probe, "peer");
        }
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* Whether the finder said that it does not work, and so why: "opengl/0/shared". */
static bool is_refused(const struct report *report, const char *where, const char *what)
{
    char id[96];
    const char *transport = strchr(what, '/');
    snprintf(id, sizeof(id), "%s%s", where, transport ? transport : "");
    const struct finding *found = report_find(report, SECTION_OPENGL, id);
    return transport && found && found->mark != MARK_GOOD;
}

/* `where` is what the ids of the finder's answers begin with. */
static void probe_opengl_on(const struct child_rules *rules, struct report *report,
                            struct probe probe, const char *where)
{
    static const char *const all[] = {"buffer/interop", "buffer/shared", "buffer/copy",
                                      "buffer/peer",    "image/interop", "image/shared",
                                      "image/copy",     "ring"};
    const bool apart = probe.cuda_device != probe.device && probe.api == PROBE_OPENGL;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        /* Between two GPUs images go by the driver's own interop and by copies only. */
        bool known = strcmp(all[i], apart ? "image/shared" : "buffer/peer") != 0;
        if (known && !is_refused(report, where, all[i]))
            probe_what(rules, report, probe, all[i]);
    }
}

static bool is_good(const struct report *report, enum section section, const char *id)
{
    const struct finding *found = report_find(report, section, id);
    return found && found->mark == MARK_GOOD;
}

static void probe_opengl_device(const struct child_rules *rules, struct report *report, int device,
                                int count)
{
    struct probe probe = {.api = PROBE_OPENGL, .device = device, .cuda_device = device};
    char id[48];
    snprintf(id, sizeof(id), "opengl/%d", device);
    if (!is_good(report, SECTION_OPENGL, id))
        return;
    probe_opengl_on(rules, report, probe, id);
    if (count < 2)
        return;
    probe.cuda_device = (device + 1) % count;
    snprintf(id, sizeof(id), "opengl/%d/cuda/%d", device, probe.cuda_device);
    probe_opengl_on(rules, report, probe, id);
}

/* OpenGL that no CUDA device draws for: what was said to work there. */
static void probe_renderers(const struct child_rules *rules, struct report *report)
{
    const struct findings *gl = &report->sections[SECTION_OPENGL];
    struct probe probe = {.api = PROBE_RENDERER};
    for (size_t i = 0; i < gl->count; i++) {
        int end = 0;
        if (sscanf(gl->items[i].id, "renderer/%d/copy%n", &probe.device, &end) != 1 || !end ||
            gl->items[i].mark != MARK_GOOD)
            continue;
        probe_what(rules, report, probe, "buffer/copy");
        probe_what(rules, report, probe, "image/copy");
    }
}

/* Windows' OpenGL: by all transports where a CUDA device draws, else by copies. */
static void probe_display(const struct child_rules *rules, struct report *report)
{
    struct probe probe = {.api = PROBE_GLX};
    const struct finding *glx = report_find(report, SECTION_OPENGL, "glx");
    if (!glx || glx->mark != MARK_GOOD)
        return;
    const struct finding *copy = report_find(report, SECTION_OPENGL, "glx/copy");
    probe.cuda_device = copy ? atoi(finding_fact(copy, "cuda_device")) : 0;
    probe_opengl_on(rules, report, probe, "glx");
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

static void probe_vulkan_device(const struct child_rules *rules, struct report *report, int device,
                                int count)
{
    struct probe probe = {.api = PROBE_VULKAN, .device = device, .cuda_device = device};
    char id[48];
    snprintf(id, sizeof(id), "vulkan/%d", device);
    if (!is_good(report, SECTION_VULKAN, id))
        return;
    probe_what(rules, report, probe, "buffer");
    probe_what(rules, report, probe, "image");
    probe_what(rules, report, probe, "ring");
    probe.cuda_device = (device + 1) % count;
    if (count > 1 && reaches(report, probe.cuda_device, device))
        probe_what(rules, report, probe, "buffer");
}

/* ---- All ------------------------------------------------------------------------------------- */

/* The software driver, where it is there beside the one that programs get. */
static void probe_software(const struct child_rules *rules, struct report *report)
{
    struct probe probe = {.software = true, .api = PROBE_OPENGL};
    if (strcmp(report->driver, "soft") == 0 || !is_good(report, SECTION_CUDA, "cuda/software"))
        return;
    probe_what(rules, report, probe, "buffer/interop");
    probe.api = PROBE_VULKAN;
    probe_what(rules, report, probe, "buffer");
}

static void count_probes(struct report *report)
{
    const struct findings *probes = &report->sections[SECTION_PROBES];
    for (size_t i = 0; i < probes->count; i++) {
        const struct finding *finding = &probes->items[i];
        report->probes++;
        report->right += finding->mark == MARK_GOOD;
        report->failed +=
            finding->mark == MARK_BAD && strcmp(finding_fact(finding, "expected"), "no") != 0;
    }
}

void probe_all(const struct child_rules *rules, struct report *report)
{
    int count = report_devices(report);
    probe_pairs(rules, report, count);
    for (int i = 0; i < count; i++)
        probe_opengl_device(rules, report, i, count);
    probe_renderers(rules, report);
    probe_display(rules, report);
    for (int i = 0; i < count; i++)
        probe_vulkan_device(rules, report, i, count);
    if (count)
        probe_software(rules, report);
    count_probes(report);
}
