/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The ways between graphics and CUDA that --probe tries by exchanging bytes, and the results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/platform/clock.h"
#include "tools/info/find.h"
#include "tools/info/report.h"
#include "tools/info/try.h"

enum { MOST_RENDERERS = 32 };

/* APIs that grinterop was built without have no trials. */
#ifndef INFO_OPENGL
#define try_opengl NULL
#endif
#ifndef INFO_VULKAN
#define try_vulkan NULL
#endif

static const struct {
    const char *name, *words;
    bool (*run)(struct trial *t);
} apis[] = {
    [WAY_OPENGL] = {"opengl", "OpenGL on CUDA device", try_opengl},
    [WAY_RENDERER] = {"renderer", "OpenGL on EGL device", try_opengl},
    [WAY_GLX] = {"glx", "OpenGL on the display", try_opengl},
    [WAY_VULKAN] = {"vulkan", "Vulkan on CUDA device", try_vulkan},
    [WAY_CUDA] = {"cuda", "CUDA devices", try_peer},
};
enum { APIS = sizeof(apis) / sizeof(apis[0]) };

/* Where a way is tried. APART: CUDA runs on another device than OpenGL or Vulkan does. */
enum place {
    PAIR = 1,
    OPENGL = 2,
    OPENGL_APART = 4,
    RENDERER = 8,
    DISPLAY = 16,
    VULKAN = 32,
    VULKAN_APART = 64,
    SOFT_OPENGL = 128,
    SOFT_VULKAN = 256
};

/* All ways, in the order of the report. Between two GPUs, images cannot be shared. */
static const struct {
    const char *what;
    unsigned places;
    const char *words;
} ways[] = {
    {"peer", PAIR, "each accesses the other's memory"},
    {"buffer/interop", OPENGL | OPENGL_APART | DISPLAY | SOFT_OPENGL,
     "a buffer registered with CUDA (interop)"},
    {"buffer/shared", OPENGL | OPENGL_APART | DISPLAY, "a buffer in shared storage (shared)"},
    {"buffer/copy", OPENGL | OPENGL_APART | DISPLAY | RENDERER | VULKAN | VULKAN_APART,
     "a buffer copied through host memory (copy)"},
    {"buffer/peer", OPENGL_APART | VULKAN_APART, "a buffer copied from GPU to GPU (peer)"},
    {"image/interop", OPENGL | OPENGL_APART | DISPLAY, "a texture registered with CUDA (interop)"},
    {"image/shared", OPENGL | DISPLAY, "a texture in shared storage (shared)"},
    {"image/copy", OPENGL | OPENGL_APART | DISPLAY | RENDERER | VULKAN | VULKAN_APART,
     "an image copied through host memory (copy)"},
    {"image/peer", OPENGL_APART | VULKAN_APART, "an image copied from GPU to GPU (peer)"},
    {"buffer", VULKAN | VULKAN_APART | SOFT_VULKAN, "a buffer that CUDA imports"},
    {"image", VULKAN, "an image that CUDA imports"},
    {"ring", OPENGL | OPENGL_APART | DISPLAY | VULKAN, "a ring with several frames in flight"},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---- Names ----------------------------------------------------------------------------------- */

/*
 * Whether the id omits the CUDA device, since CUDA runs on the device that draws, or on device 0 if
 * no CUDA device draws.
 */
static bool is_usual(const struct way *way)
{
    return way->cuda_device == (way->api == WAY_RENDERER || way->api == WAY_GLX ? 0 : way->device);
}

static const char *id_of(const struct way *way)
{
    const char *cuda = is_usual(way) ? "" : text_of("cuda/%d/", way->cuda_device);
    return text_of("probe/%s%s/%d/%s%s", way->software ? "software/" : "", apis[way->api].name,
                   way->device, cuda, way->what);
}

/* The label of a way: "OpenGL on CUDA device 0: a ring with several frames in flight". */
static const char *label_of(const struct way *way)
{
    const char *device = way->api == WAY_GLX ? "" : text_of(" %d", way->device);
    const char *cuda = "", *words = way->what;
    if (!is_usual(way))
        cuda = text_of("%s %d", way->api == WAY_CUDA ? " and" : ", CUDA on", way->cuda_device);
    for (size_t i = 0; i < WAYS; i++)
        if (strcmp(ways[i].what, way->what) == 0)
            words = ways[i].words;
    return text_of("%s%s%s%s: %s", way->software ? "the software driver, " : "",
                   apis[way->api].words, device, cuda, words);
}

/* Parses "NAME/NUMBER/" and moves *text past it. */
static bool pass(const char **text, const char *name, int *number)
{
    int end = 0;
    size_t length = strlen(name);
    if (strncmp(*text, name, length) != 0 || sscanf(*text + length, "/%d/%n", number, &end) != 1 ||
        !end)
        return false;
    *text += length + (size_t)end;
    return true;
}

/* Parses the part of an id after "probe/". False if it is invalid. */
static bool parse(const char *id, struct way *way)
{
    size_t api = 0, software = strlen("software/");
    *way = (struct way){.software = strncmp(id, "software/", software) == 0};
    id += way->software ? software : 0;
    while (api < APIS && !pass(&id, apis[api].name, &way->device))
        api++;
    if (api == APIS)
        return false;
    way->api = (enum way_api)api;
    if (!pass(&id, "cuda", &way->cuda_device))
        way->cuda_device = api == WAY_RENDERER || api == WAY_GLX ? 0 : way->device;
    snprintf(way->what, sizeof(way->what), "%s", id);
    return true;
}

/* ---- All ways -------------------------------------------------------------------------------- */

/*
 * Whether a finder has already reported, in a finding such as "opengl/0/shared", that the transport
 * does not work, and why.
 */
static bool is_refused(const struct report *report, const char *where, const char *what)
{
    const char *transport = strchr(what, '/');
    const struct findings *gl = &report->sections[SECTION_OPENGL];
    const struct finding *found =
        findings_find(gl, text_of("%s%s", where, transport ? transport : ""));
    return transport && found && found->mark != MARK_GOOD;
}

/* Tries all ways at one place. `where` is the prefix of the ids of the finder for that place. */
static void try_place(struct report *report, enum place place, const char *where, enum way_api api,
                      int device, int cuda_device)
{
    struct way way = {place == SOFT_OPENGL || place == SOFT_VULKAN, api, device, cuda_device, ""};
    for (size_t i = 0; i < WAYS; i++) {
        if (!(ways[i].places & place) || is_refused(report, where, ways[i].what))
            continue;
        snprintf(way.what, sizeof(way.what), "%s", ways[i].what);
        report_run_finder(report, SECTION_PROBES, id_of(&way),
                          way.software ? "soft" : report->driver, label_of(&way));
    }
}

static bool reaches(const struct report *report, int from, int to)
{
    const struct finding *peer =
        findings_find(&report->sections[SECTION_CUDA], text_of("cuda/peer/%d/%d", from, to));
    return peer && strcmp(finding_fact(peer, "reaches"), "yes") == 0;
}

/* Tries each pair of GPUs once, since a trial covers both directions. */
static void try_pairs(struct report *report, int count)
{
    for (int one = 0; one < count; one++)
        for (int other = one + 1; other < count; other++)
            if (reaches(report, one, other) && reaches(report, other, one))
                try_place(report, PAIR, "", WAY_CUDA, one, other);
}

static void try_opengl_devices(struct report *report, int count)
{
    const struct findings *gl = &report->sections[SECTION_OPENGL];
    char where[48];
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        snprintf(where, sizeof(where), "opengl/%d", i);
        if (!findings_good(gl, where))
            continue;
        try_place(report, OPENGL, where, WAY_OPENGL, i, i);
        snprintf(where, sizeof(where), "opengl/%d/cuda/%d", i, next);
        if (next != i)
            try_place(report, OPENGL_APART, where, WAY_OPENGL, i, next);
    }
    for (int i = 0; i < MOST_RENDERERS; i++)
        if (findings_good(gl, text_of("renderer/%d/copy", i)))
            try_place(report, RENDERER, "", WAY_RENDERER, i, 0);
    const struct finding *copy = findings_find(gl, "glx/copy");
    if (findings_good(gl, "glx"))
        try_place(report, DISPLAY, "glx", WAY_GLX, 0,
                  copy ? atoi(finding_fact(copy, "cuda_device")) : 0);
}

static void try_vulkan_devices(struct report *report, int count)
{
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        if (!findings_good(&report->sections[SECTION_VULKAN], text_of("vulkan/%d", i)))
            continue;
        try_place(report, VULKAN, "", WAY_VULKAN, i, i);
        if (next != i && reaches(report, next, i))
            try_place(report, VULKAN_APART, "", WAY_VULKAN, i, next);
    }
}

void report_probe(struct report *report)
{
    int count = report_devices(report);
    const struct findings *probes = &report->sections[SECTION_PROBES];
    try_pairs(report, count);
    try_opengl_devices(report, count);
    try_vulkan_devices(report, count);
    /* Also tries the software driver, if it is available in addition to the main driver. */
    if (count && strcmp(report->driver, "soft") != 0 &&
        findings_good(&report->sections[SECTION_CUDA], "cuda/software")) {
        try_place(report, SOFT_OPENGL, "", WAY_OPENGL, 0, 0);
        try_place(report, SOFT_VULKAN, "", WAY_VULKAN, 0, 0);
    }
    for (size_t i = 0; i < probes->count; i++) {
        const struct finding *finding = &probes->items[i];
        bool expected = strcmp(finding_fact(finding, "expected"), "no") != 0;
        report->probes++;
        report->right += finding->mark == MARK_GOOD;
        report->failed += finding->mark == MARK_BAD && expected;
    }
}

/* ---- One way --------------------------------------------------------------------------------- */

void find_way(const struct find *find)
{
    static struct trial t;
    if (!parse(find->argument, &t.way))
        return;
    double before = gr_clock_ms();
    bool (*run)(struct trial *) = apis[t.way.api].run;
    bool good = run ? run(&t) : try_fail(&t, "grinterop was built without this API.");
    gr_cuda_context_free(t.cuda.context);
    double ms = gr_clock_ms() - before;
    say(id_of(&t.way), good ? MARK_GOOD : MARK_BAD, label_of(&t.way), "%s",
        good ? "Each side read what the other wrote." : t.failure);
    say_fact("ms", "%.1f", ms);
    say_fact("kernel", "%s", t.kernel_ran ? "yes" : "no");
    if (t.error)
        say_fact("error", "%s", t.error);
    if (t.code)
        say_fact("code", "%s", t.code);
    if (t.absent)
        say_fact("expected", "no");
}
