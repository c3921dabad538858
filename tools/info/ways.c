/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The ways between graphics and CUDA that --probe tries by exchanging bytes, and the results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "tools/info/report.h"
#include "tools/info/try.h"

enum { MOST_RENDERERS = 32 };

/* APIs that grinterop was built without have no trials. */
#ifdef INFO_OPENGL
#define OPENGL_API (&try_opengl)
#else
#define OPENGL_API NULL
#endif
#ifdef INFO_VULKAN
#define VULKAN_API (&try_vulkan)
#else
#define VULKAN_API NULL
#endif

static const struct {
    const char *name, *words;
    const struct try_api *api;
} apis[] = {
    [WAY_OPENGL] = {"opengl", "OpenGL on CUDA device", OPENGL_API},
    [WAY_RENDERER] = {"renderer", "OpenGL on EGL device", OPENGL_API},
    [WAY_GLX] = {"glx", "OpenGL on the display", OPENGL_API},
    [WAY_VULKAN] = {"vulkan", "Vulkan on CUDA device", VULKAN_API},
    [WAY_CUDA] = {"cuda", "CUDA devices", NULL},
};
enum { APIS = sizeof(apis) / sizeof(apis[0]) };

/* Where a way is tried. APART: CUDA runs on another device than OpenGL or Vulkan does. */
enum place {
    PAIR = 1,
    OPENGL = 2,
    OPENGL_APART = 4,
    RENDERER = 8,
    VULKAN = 16,
    VULKAN_APART = 32,
    SOFT_OPENGL = 64,
    SOFT_VULKAN = 128
};

/* All ways, in the order of the report. Between two GPUs, images cannot be shared. */
static const struct {
    const char *what;
    unsigned places;
    const char *words;
} ways[] = {
    {"peer", PAIR, "each accesses the other's memory"},
    {"buffer/interop", OPENGL | OPENGL_APART | SOFT_OPENGL,
     "a buffer registered with CUDA (interop)"},
    {"buffer/shared", OPENGL | OPENGL_APART, "a buffer in shared storage (shared)"},
    {"buffer/copy", OPENGL | OPENGL_APART | RENDERER | VULKAN | VULKAN_APART,
     "a buffer copied through host memory (copy)"},
    {"buffer/peer", OPENGL_APART | VULKAN | VULKAN_APART, "a buffer copied in GPU memory (peer)"},
    {"image/interop", OPENGL | OPENGL_APART, "a texture registered with CUDA (interop)"},
    {"image/shared", OPENGL, "a texture in shared storage (shared)"},
    {"image/copy", OPENGL | OPENGL_APART | RENDERER | VULKAN | VULKAN_APART,
     "an image copied through host memory (copy)"},
    {"image/peer", OPENGL_APART | VULKAN | VULKAN_APART, "an image copied in GPU memory (peer)"},
    {"buffer", VULKAN | VULKAN_APART | SOFT_VULKAN, "a buffer that CUDA imports"},
    {"image", VULKAN, "an image that CUDA imports"},
    {"ring", OPENGL | OPENGL_APART | VULKAN, "a ring with several frames in flight"},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---- Names ----------------------------------------------------------------------------------- */

/* The CUDA device that the id omits: the device that draws, or 0 if no CUDA device draws. */
static int usual_device(enum way_api api, int device)
{
    return api == WAY_RENDERER || api == WAY_GLX ? 0 : device;
}

static bool is_usual(const struct way *way)
{
    return way->cuda_device == usual_device(way->api, way->device);
}

/* The prefix of the ids at one place: "opengl/0/cuda/1/". */
static const char *place_of(const struct way *way)
{
    const char *cuda = is_usual(way) ? "" : text_of("cuda/%d/", way->cuda_device);
    return text_of("%s/%d/%s", apis[way->api].name, way->device, cuda);
}

static const char *id_of(const struct way *way)
{
    return text_of("probe/%s%s%s", way->software ? "software/" : "", place_of(way), way->what);
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

/* Parses the part of an id after "probe/". False if it is invalid. */
static bool parse(const char *id, struct way *way)
{
    char name[16];
    int end = 0;
    size_t api = 0, software = strlen("software/");
    *way = (struct way){.software = strncmp(id, "software/", software) == 0};
    id += way->software ? software : 0;
    if (sscanf(id, "%15[a-z]/%d/%n", name, &way->device, &end) != 2 || !end)
        return false;
    id += end;
    while (api < APIS && strcmp(apis[api].name, name) != 0)
        api++;
    if (api == APIS)
        return false;
    way->api = (enum way_api)api;
    way->cuda_device = usual_device(way->api, way->device);
    end = 0;
    sscanf(id, "cuda/%d/%n", &way->cuda_device, &end);
    snprintf(way->what, sizeof(way->what), "%s", id + end);
    return true;
}

/* ---- All ways -------------------------------------------------------------------------------- */

/*
 * Whether a finder has already reported, in a finding such as "opengl/0/shared", that the transport
 * does not work, and why.
 */
static bool is_refused(const struct report *report, const struct way *way)
{
    const char *transport = strchr(way->what, '/');
    const char *place = way->api == WAY_GLX ? "glx/" : place_of(way);
    const struct finding *found =
        transport ? report_find(report, text_of("%s%s", place, transport + 1)) : NULL;
    return !way->software && found && found->mark != MARK_GOOD;
}

/* Tries all ways at one place. */
static void try_place(struct report *report, enum place place, enum way_api api, int device,
                      int cuda_device)
{
    struct way way = {place == SOFT_OPENGL || place == SOFT_VULKAN, api, device, cuda_device, ""};
    for (size_t i = 0; i < WAYS; i++) {
        snprintf(way.what, sizeof(way.what), "%s", ways[i].what);
        if (ways[i].places & place && !is_refused(report, &way))
            report_run_finder(report, SECTION_PROBES, id_of(&way),
                              way.software ? "soft" : report->driver, label_of(&way));
    }
}

static bool reaches(const struct report *report, int from, int to)
{
    const struct finding *peer = report_find(report, text_of("cuda/peer/%d/%d", from, to));
    return peer && strcmp(finding_fact(peer, "reaches"), "yes") == 0;
}

/* Tries each pair of GPUs once, since a trial covers both directions. */
static void try_pairs(struct report *report, int count)
{
    for (int one = 0; one < count; one++)
        for (int other = one + 1; other < count; other++)
            if (reaches(report, one, other) && reaches(report, other, one))
                try_place(report, PAIR, WAY_CUDA, one, other);
}

/* Tries the API on each CUDA device, also with CUDA on the next device. */
static void try_devices(struct report *report, int count, enum way_api api)
{
    const bool vulkan = api == WAY_VULKAN;
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        if (!report_good(report, text_of("%s/%d", apis[api].name, i)))
            continue;
        try_place(report, vulkan ? VULKAN : OPENGL, api, i, i);
        if (next != i && (!vulkan || reaches(report, next, i)))
            try_place(report, vulkan ? VULKAN_APART : OPENGL_APART, api, i, next);
    }
}

/* Tries the OpenGL of EGL devices that are no CUDA devices, and that of the display. */
static void try_other_opengl(struct report *report)
{
    for (int i = 0; i < MOST_RENDERERS; i++)
        if (report_good(report, text_of("renderer/%d/copy", i)))
            try_place(report, RENDERER, WAY_RENDERER, i, 0);
    const struct finding *copy = report_find(report, "glx/copy");
    if (report_good(report, "glx"))
        try_place(report, OPENGL, WAY_GLX, 0, copy ? atoi(finding_fact(copy, "cuda_device")) : 0);
}

void report_probe(struct report *report)
{
    int count = report->devices;
    const struct findings *probes = &report->sections[SECTION_PROBES];
    try_pairs(report, count);
    try_devices(report, count, WAY_OPENGL);
    try_other_opengl(report);
    try_devices(report, count, WAY_VULKAN);
    /* Also tries the software driver, if it is available in addition to the main driver. */
    if (count && strcmp(report->driver, "soft") != 0 && report_good(report, "cuda/software")) {
        try_place(report, SOFT_OPENGL, WAY_OPENGL, 0, 0);
        try_place(report, SOFT_VULKAN, WAY_VULKAN, 0, 0);
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

static bool try_way(struct trial *t)
{
    const struct try_api *api = apis[t->way.api].api;
    if (t->way.api == WAY_CUDA)
        return try_peer(t);
    return api ? try_graphics(t, api) : try_fail(t, "grinterop was built without this API.");
}

void find_way(const struct find *find)
{
    static struct trial t;
    if (!parse(find->argument, &t.way))
        return;
    double before = gr_clock_ms();
    bool good = try_way(&t);
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
