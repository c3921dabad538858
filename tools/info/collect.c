/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of finders, and which of them apply. The CUDA driver that programs get is found first:
 * that of GR_CUDA_DRIVER, otherwise libcuda.so.1, otherwise the software driver. All other finders
 * use the driver found.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/platform/loader.h"
#include "tools/info/find.h"
#include "tools/info/report.h"

enum { MOST_DEVICES = 64 };

/* ---- Conditions ------------------------------------------------------------------------------ */

/* The first finding, from index `from` on, about a driver that started. */
static const struct finding *driver_of(const struct findings *findings, size_t from)
{
    for (size_t i = from; i < findings->count; i++)
        if (*finding_fact(&findings->items[i], "devices"))
            return &findings->items[i];
    return NULL;
}

int report_devices(const struct report *report)
{
    const struct finding *driver = driver_of(&report->sections[SECTION_CUDA], 0);
    return *report->driver && driver ? atoi(finding_fact(driver, "devices")) : 0;
}

static bool is_cuda_device(const struct report *report, int number)
{
    return number < report_devices(report);
}

/*
 * Whether CUDA and OpenGL on this EGL device can only copy, since the EGL device has no CUDA
 * device. False for software EGL devices if CUDA runs on the software driver, which shares memory
 * with them.
 */
static bool is_renderer(const struct report *report, int number)
{
    const struct finding *found =
        findings_find(&report->sections[SECTION_OPENGL], text_of("egl/device/%d", number));
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
     * the kind of device that the `number` of needs() counts, for the message ("CUDA", "EGL"); NULL
     * for a finder that does not run per device
     */
    const char *device;
    /*
     * Whether to run the finder for the device with that number. Called after the earlier finders
     * have run. NULL: the finder runs once, without a number.
     */
    bool (*needs)(const struct report *report, int number);
} finders[] = {
    {"cuda", find_cuda, SECTION_CUDA, "the CUDA driver", NULL, NULL},
    {"software", find_software, SECTION_CUDA, "the software CUDA driver", NULL, NULL},
    {"probe", find_way, SECTION_PROBES, NULL, NULL, NULL},
    {"egl", find_egl, SECTION_OPENGL, "EGL", NULL, NULL},
    {"opengl", find_opengl, SECTION_OPENGL, "OpenGL", "CUDA", is_cuda_device},
    {"renderer", find_renderer, SECTION_OPENGL, "OpenGL", "EGL", is_renderer},
    {"glx", find_glx, SECTION_OPENGL, "OpenGL on the display", NULL, is_display},
    {"vulkan-devices", find_vulkan_devices, SECTION_VULKAN, "Vulkan", NULL, NULL},
    {"vulkan", find_vulkan, SECTION_VULKAN, "Vulkan", "CUDA", is_cuda_device},
    {"surroundings", find_surroundings, SECTION_SURROUNDINGS, "the surroundings", NULL, NULL},
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
    /*
     * A driver that does not start is not loaded again, as it may crash. Instead, the finders get
     * the name of a file that does not exist.
     */
    const char *driver = *report->driver ? report->driver : "none";
    if (!finder->run)
        return;
    if (finder->section == SECTION_SURROUNDINGS)
        driver = NULL;
    if (!finder->needs) {
        report_run_finder(report, finder->section, finder->name, driver, finder->about);
        return;
    }
    for (int i = 0; i < MOST_DEVICES; i++) {
        const char *about = finder->about;
        if (!finder->needs(report, i))
            continue;
        if (finder->device)
            about = text_of("%s on %s device %d", about, finder->device, i);
        report_run_finder(report, finder->section, text_of("%s:%d", finder->name, i), driver,
                          about);
    }
}

/* ---- The driver ------------------------------------------------------------------------------ */

/* Whether the driver works. Its findings are kept even if it does not. */
static bool try_driver(struct report *report, const char *driver)
{
    const struct findings *cuda = &report->sections[SECTION_CUDA];
    size_t before = cuda->count;
    report_run_finder(report, SECTION_CUDA, "cuda", driver, "the CUDA driver");
    const struct finding *found = driver_of(cuda, before);
    if (!found || found->mark != MARK_GOOD)
        return false;
    report->driver = driver;
    report->software = strcmp(finding_fact(found, "software"), "yes") == 0;
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

/*
 * Counts the ways tried and those that work. A failed finder of a device ("opengl:0") counts as one
 * way.
 */
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
