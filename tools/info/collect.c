/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of finders, and which of them apply. The CUDA driver that programs get is found first:
 * that of GR_CUDA_DRIVER, otherwise libcuda.so.1, otherwise the software driver. All other finders
 * use the driver found.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/loader.h"
#include "tools/info/report.h"

enum { MOST_DEVICES = 64 };

/* ---- Conditions ------------------------------------------------------------------------------ */

const struct finding *report_find(const struct report *report, const char *id)
{
    for (int s = 0; s < SECTIONS; s++)
        for (size_t i = 0; i < report->sections[s].count; i++)
            if (strcmp(report->sections[s].items[i].id, id) == 0)
                return &report->sections[s].items[i];
    return NULL;
}

bool report_good(const struct report *report, const char *id)
{
    const struct finding *found = report_find(report, id);
    return found && found->mark == MARK_GOOD;
}

static bool is_cuda_device(const struct report *report, int number)
{
    return number < report->devices;
}

/*
 * Whether CUDA and OpenGL on this EGL device can only copy, since the EGL device has no CUDA
 * device. False for software EGL devices if CUDA runs on the software driver, which shares memory
 * with them.
 */
static bool is_renderer(const struct report *report, int number)
{
    const struct finding *found = report_find(report, text_of("egl/device/%d", number));
    return found && *report->driver && !*finding_fact(found, "cuda_device") &&
           !(report->software && strcmp(finding_fact(found, "software"), "yes") == 0);
}

/* Whether to examine the OpenGL of the display, which windows use. */
static bool is_display(const struct report *report, int number)
{
    const char *display = getenv("DISPLAY");
    return number == 0 && display && *display && *report->driver;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Parts that grinterop was built without have no finders. */
#ifndef INFO_OPENGL
#define find_egl      NULL
#define find_opengl   NULL
#define find_renderer NULL
#define find_glx      NULL
#endif
#ifndef INFO_VULKAN
#define find_vulkan_devices NULL
#define find_vulkan         NULL
#endif

/* All finders, in the order in which they run. */
enum { FINDERS_BY_OTHERS = 3 }; /* the first finders: find_driver() and report_probe() run them */
static const struct finder {
    const char *name;
    void (*run)(const struct find *find);
    enum section section;
    const char *about; /* the subject of the finder, for the message if it fails */
    /*
     * Whether to run the finder for the device with that number. Called after the earlier finders
     * have run. NULL: the finder runs once, without a number.
     */
    bool (*needs)(const struct report *report, int number);
} finders[] = {
    {"cuda", find_cuda, SECTION_CUDA, "the CUDA driver", NULL},
    {"software", find_software, SECTION_CUDA, "the software CUDA driver", NULL},
    {"probe", find_way, SECTION_PROBES, NULL, NULL},
    {"egl", find_egl, SECTION_OPENGL, "EGL", NULL},
    {"opengl", find_opengl, SECTION_OPENGL, "OpenGL on CUDA device", is_cuda_device},
    {"renderer", find_renderer, SECTION_OPENGL, "OpenGL on EGL device", is_renderer},
    {"glx", find_glx, SECTION_OPENGL, "OpenGL on the display", is_display},
    {"vulkan-devices", find_vulkan_devices, SECTION_VULKAN, "Vulkan", NULL},
    {"vulkan", find_vulkan, SECTION_VULKAN, "Vulkan on CUDA device", is_cuda_device},
    {"surroundings", find_surroundings, SECTION_SURROUNDINGS, "the surroundings", NULL},
};

enum { FINDERS = sizeof(finders) / sizeof(finders[0]) };

bool find_by_name(const char *name, const char *root)
{
    size_t length = strcspn(name, ":/");
    const char *argument = name + length + (name[length] != '\0');
    const struct find find = {.argument = argument, .device = atoi(argument), .root = root};
    for (size_t i = 0; i < FINDERS; i++)
        if (finders[i].run && strlen(finders[i].name) == length &&
            strncmp(finders[i].name, name, length) == 0) {
            finders[i].run(&find);
            return true;
        }
    return false;
}

static void run_finder(struct report *report, const struct finder *finder)
{
    /* A driver that does not start is not loaded again, as it may crash: "none" is no file. */
    const char *driver = *report->driver ? report->driver : "none";
    if (!finder->run)
        return;
    if (finder->section == SECTION_SURROUNDINGS)
        driver = NULL;
    if (!finder->needs) {
        report_run_finder(report, finder->section, finder->name, driver, finder->about);
        return;
    }
    for (int i = 0; i < MOST_DEVICES; i++)
        if (finder->needs(report, i))
            report_run_finder(report, finder->section, text_of("%s:%d", finder->name, i), driver,
                              finder->needs == is_display ? finder->about
                                                          : text_of("%s %d", finder->about, i));
}

/* ---- The driver ------------------------------------------------------------------------------ */

/* Whether the driver works. Its findings are kept even if it does not. */
static bool try_driver(struct report *report, const char *driver)
{
    const struct findings *cuda = &report->sections[SECTION_CUDA];
    size_t i = cuda->count;
    report_run_finder(report, SECTION_CUDA, "cuda", driver, "the CUDA driver");
    while (i < cuda->count && !*finding_fact(&cuda->items[i], "devices"))
        i++;
    if (i == cuda->count || cuda->items[i].mark != MARK_GOOD)
        return false;
    report->driver = driver;
    report->devices = atoi(finding_fact(&cuda->items[i], "devices"));
    report->software = strcmp(finding_fact(&cuda->items[i], "software"), "yes") == 0;
    return true;
}

static void find_driver(struct report *report)
{
    const char *named = getenv("GR_CUDA_DRIVER");
    report->driver = "";
    if (named && *named)
        try_driver(report, named);
    else if (!try_driver(report, GR_REAL_DRIVER))
        try_driver(report, "soft");
    else
        report_run_finder(report, SECTION_CUDA, "software", "soft", "the software CUDA driver");
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Counts the ways. A failed finder of a device ("opengl:0") counts as one way. */
static void count_paths(struct report *report)
{
    for (int s = SECTION_OPENGL; s <= SECTION_VULKAN; s++)
        for (size_t i = 0; i < report->sections[s].count; i++) {
            const struct finding *finding = &report->sections[s].items[i];
            bool path = *finding_fact(finding, "path") || strchr(finding->id, ':');
            report->paths += path;
            report->working += path && finding->mark == MARK_GOOD;
        }
}

void report_collect(struct report *report)
{
    find_driver(report);
    for (size_t i = FINDERS_BY_OTHERS; i < FINDERS; i++)
        run_finder(report, &finders[i]);
    if (report->probed)
        report_probe(report);
    count_paths(report);
}

void report_free(struct report *report)
{
    for (int s = 0; s < SECTIONS; s++)
        findings_free(&report->sections[s]);
}
