/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver that a program gets comes first: GR_CUDA_DRIVER's, else libcuda.so.1, else the
 * software driver. The finders after it ask what works with that one.
 */
#include "tools/info/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/platform/loader.h"
#include "tools/info/finders.h"
#include "tools/info/probe_all.h"

const char *const section_names[SECTIONS] = {"cuda",   "opengl", "vulkan",
                                             "probes", "bench",  "surroundings"};
const char *const section_titles[SECTIONS] = {"CUDA",   "OpenGL",  "Vulkan",
                                              "Probes", "Figures", "Surroundings"};

/* ---- The driver ------------------------------------------------------------------------------ */

/* The answer of the driver that was taken, or is to be: the first from there on. */
static const struct finding *driver_of(const struct findings *findings, size_t from)
{
    for (size_t i = from; i < findings->count; i++)
        if (*finding_fact(&findings->items[i], "devices"))
            return &findings->items[i];
    return NULL;
}

/* Whether the driver works, of which the findings get all. */
static bool try_driver(const struct child_rules *rules, const char *driver, struct report *report)
{
    struct findings *cuda = &report->sections[SECTION_CUDA];
    size_t before = cuda->count;
    child_find(rules, "cuda", driver, "the CUDA driver", cuda);
    const struct finding *found = driver_of(cuda, before);
    if (!found || found->mark != MARK_GOOD)
        return false;
    report->driver = driver;
    report->software = strcmp(finding_fact(found, "software"), "yes") == 0;
    return true;
}

static void find_driver(const struct child_rules *rules, struct report *report)
{
    const char *named = getenv("GR_CUDA_DRIVER");
    report->driver = "";
    if (named && *named)
        try_driver(rules, named, report);
    else if (!try_driver(rules, GR_REAL_DRIVER, report))
        try_driver(rules, "soft", report);
    else
        child_find(rules, "software", "soft", "the software CUDA driver",
                   &report->sections[SECTION_CUDA]);
}

int report_devices(const struct report *report)
{
    const struct finding *driver = driver_of(&report->sections[SECTION_CUDA], 0);
    return *report->driver && driver ? atoi(finding_fact(driver, "devices")) : 0;
}

/* ---- OpenGL and Vulkan ----------------------------------------------------------------------- */

static void find_on(const struct child_rules *rules, struct report *report, enum section section,
                    const char *finder, int device)
{
    char whole[64], about[96];
    if (!finders_have(finder))
        return;
    snprintf(whole, sizeof(whole), "%s:%d", finder, device);
    snprintf(about, sizeof(about), "%s on %s device %d", section_titles[section],
             strcmp(finder, "renderer") == 0 ? "EGL" : "CUDA", device);
    child_find(rules, whole, report->driver, about, &report->sections[section]);
}

/*
 * EGL devices that are no CUDA device have an OpenGL that CUDA can copy with, but for the one that
 * the software driver draws with.
 */
static void find_renderers(const struct child_rules *rules, struct report *report)
{
    struct findings *gl = &report->sections[SECTION_OPENGL];
    size_t count = gl->count;
    for (size_t i = 0; i < count; i++) {
        int device;
        const struct finding *found = &gl->items[i];
        bool drawn = report->software && strcmp(finding_fact(found, "software"), "yes") == 0;
        if (sscanf(found->id, "egl/device/%d", &device) == 1 && !drawn &&
            !*finding_fact(found, "cuda_device"))
            find_on(rules, report, SECTION_OPENGL, "renderer", device);
    }
}

/* What windows draw with, where there may be some. */
static void find_display(const struct child_rules *rules, struct report *report)
{
    const char *display = getenv("DISPLAY");
    if (display && *display && *report->driver && finders_have("glx"))
        child_find(rules, "glx:0", report->driver, "OpenGL on the display",
                   &report->sections[SECTION_OPENGL]);
}

static void find_graphics(const struct child_rules *rules, struct report *report)
{
    int count = report_devices(report);
    /* No file is called so: what does not start is not asked again, as it may have crashed. */
    const char *driver = *report->driver ? report->driver : "none";
    if (finders_have("egl"))
        child_find(rules, "egl", driver, "EGL", &report->sections[SECTION_OPENGL]);
    for (int i = 0; i < count; i++)
        find_on(rules, report, SECTION_OPENGL, "opengl", i);
    if (*report->driver)
        find_renderers(rules, report);
    find_display(rules, report);
    if (finders_have("vulkan-devices"))
        child_find(rules, "vulkan-devices", driver, "Vulkan", &report->sections[SECTION_VULKAN]);
    for (int i = 0; i < count; i++)
        find_on(rules, report, SECTION_VULKAN, "vulkan", i);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* On the first CUDA device that OpenGL draws on. */
static void measure(const struct child_rules *rules, struct report *report)
{
    struct findings *figures = &report->sections[SECTION_BENCH];
    int count = report_devices(report);
    for (int i = 0; i < count && finders_have("bench"); i++) {
        char id[32], finder[32];
        snprintf(id, sizeof(id), "opengl/%d", i);
        const struct finding *opengl = report_find(report, SECTION_OPENGL, id);
        if (!opengl || opengl->mark != MARK_GOOD)
            continue;
        snprintf(finder, sizeof(finder), "bench:%d", i);
        child_find(rules, finder, report->driver, "the figures", figures);
        return;
    }
    findings_add(figures, "bench", MARK_NOTE, "no figures",
                 "There is no OpenGL on a CUDA device, which they are about.");
}

/* ---- All ------------------------------------------------------------------------------------- */

/* What OpenGL's or Vulkan's finder for a device ended in ("opengl:0") was a way, too. */
static bool is_path(const struct finding *finding)
{
    return *finding_fact(finding, "path") || strchr(finding->id, ':');
}

static void count_paths(struct report *report)
{
    for (int s = SECTION_OPENGL; s <= SECTION_VULKAN; s++)
        for (size_t i = 0; i < report->sections[s].count; i++) {
            const struct finding *finding = &report->sections[s].items[i];
            report->paths += is_path(finding);
            report->working += is_path(finding) && finding->mark == MARK_GOOD;
        }
}

void collect(const struct child_rules *rules, bool probe, bool bench, struct report *report)
{
    *report = (struct report){.probed = probe};
    find_driver(rules, report);
    find_graphics(rules, report);
    if (probe)
        probe_all(rules, report);
    if (bench)
        measure(rules, report);
    child_find(rules, "surroundings", NULL, "the surroundings",
               &report->sections[SECTION_SURROUNDINGS]);
    count_paths(report);
}

const struct finding *report_find(const struct report *report, enum section section, const char *id)
{
    const struct findings *findings = &report->sections[section];
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].id, id) == 0)
            return &findings->items[i];
    return NULL;
}

void report_free(struct report *report)
{
    for (int s = 0; s < SECTIONS; s++)
        findings_free(&report->sections[s]);
}
