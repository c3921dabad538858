/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions that have to go together. The parts of NVIDIA's driver, in the kernel and in files, have
 * to be of one; an update without a restart, and a container, leave them apart.
 */
#define _GNU_SOURCE
#include "tools/info/surroundings.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/gr.h>

#include "config.h"
#include "lib/platform/loader.h"
#include "tools/info/rooted.h"
#include "tools/info/say.h"

/* ---- In the kernel --------------------------------------------------------------------------- */

/* The word of the line that is a version, such as 580.65.06. */
static void find_version(char *line, char *version, size_t size)
{
    char *rest = line;
    for (char *word; (word = strsep(&rest, " \t"));)
        if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
            snprintf(version, size, "%s", word);
            return;
        }
}

/* "" where there is none. */
static void say_kernel(const char *root, char *version, size_t size)
{
    char line[300];
    *version = '\0';
    if (!rooted_line(root, "/proc/driver/nvidia/version", line, sizeof(line)))
        return;
    say_detail("surroundings/kernel", MARK_NOTE, "NVIDIA's driver in the kernel", "%s", line);
    find_version(line, version, size);
    say_fact("version", "%s", version);
}

/* ---- In files -------------------------------------------------------------------------------- */

/*
 * The file behind the name, by which drivers tell their version: libcuda.so.580.65.06. NULL for the
 * software driver's libcuda, too, which is of no kernel's version.
 */
static char *file_of(const char *name)
{
    struct link_map *map;
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library || dlsym(library, "gr_softcuda_version") ||
        dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    return realpath(map->l_name, NULL);
}

/* NULL where the name has none: Jetson's libcuda.so.1.1 is of every version. */
static const char *version_of(const char *file)
{
    const char *version = strstr(file, ".so.");
    version = version ? version + strlen(".so.") : NULL;
    return version && strspn(version, "0123456789") >= 3 && strchr(version, '.') ? version : NULL;
}

static void say_apart(const char *id, const char *file, const char *kernel)
{
    bool compat = strstr(file, "/compat/");
    if (compat)
        say(id, MARK_NOTE, "the CUDA driver is one for forward compatibility",
            "%s goes with the kernel's driver %s on some GPUs only: on others cuInit answers 804 "
            "(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE). Then take it out of LD_LIBRARY_PATH.",
            file, kernel);
    else
        say(id, MARK_BAD, "two versions of NVIDIA's driver",
            "The kernel has %s, but %s is loaded: CUDA answers 803 "
            "(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH), OpenGL and Vulkan do not start. Restart the "
            "machine after an update; a container needs the host's own driver mounted.",
            kernel, file);
}

static void say_file(const char *name, const char *what, const char *kernel)
{
    char id[64], label[120];
    char *file = file_of(name);
    const char *version = file ? version_of(file) : NULL;
    snprintf(id, sizeof(id), "surroundings/version/%s", what);
    if (version && *kernel && strcmp(version, kernel) != 0) {
        say_apart(id, file, kernel);
    } else if (version) {
        snprintf(label, sizeof(label), "NVIDIA's driver for %s is %s", what, version);
        say_detail(id, *kernel ? MARK_GOOD : MARK_NOTE, label, "%s", file);
    }
    free(file);
}

/* The one of GR_CUDA_DRIVER, unless it is the software driver. */
static const char *cuda_name(void)
{
    const char *wanted = getenv("GR_CUDA_DRIVER");
    return wanted && *wanted && strcmp(wanted, "soft") != 0 ? wanted : GR_REAL_DRIVER;
}

/* ---- grinterop ------------------------------------------------------------------------------- */

static void say_library(void)
{
    Dl_info where = {.dli_fname = "?"};
    const char *version = gr_library_version();
    void *symbol = dlsym(RTLD_DEFAULT, "gr_library_version");
    if (symbol)
        dladdr(symbol, &where);
    if (strcmp(version, PACKAGE_VERSION) == 0)
        say_detail("surroundings/version/grinterop", MARK_GOOD, "grinterop " PACKAGE_VERSION, "%s",
                   where.dli_fname);
    else
        say("surroundings/version/grinterop", MARK_BAD, "two versions of grinterop",
            "This command is of " PACKAGE_VERSION ", but the library that it got is of %s (%s): "
            "another one is installed, or named by LD_LIBRARY_PATH.",
            version, where.dli_fname);
}

void say_versions(const char *root)
{
    char kernel[40];
    say_kernel(root, kernel, sizeof(kernel));
    say_library();
    say_file(cuda_name(), "CUDA", kernel);
    say_file("libEGL_nvidia.so.0", "EGL", kernel);
    say_file("libGLX_nvidia.so.0", "GLX", kernel);
}
