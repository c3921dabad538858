/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * libglvnd reads the names of EGL drivers from .json files. FILES lists these files. If FILES is
 * not set, FOLDERS lists their folders. If neither is set, they are in the system folders. libglvnd
 * does not report a missing file, or a library that cannot be loaded.
 */
#define _POSIX_C_SOURCE 200809L
#include "gl/context/egl_device.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/machine.h"
#include "lib/base/log.h"

#define FILES   "__EGL_VENDOR_LIBRARY_FILENAMES"
#define FOLDERS "__EGL_VENDOR_LIBRARY_DIRS"
/* The default folders of libglvnd. */
#define SYSTEM_FOLDERS "/etc/glvnd/egl_vendor.d:/usr/share/glvnd/egl_vendor.d"

#define PATH_ROOM 300

/* The parts of file and library names that identify the drivers. */
#define MESA   "mesa"
#define NVIDIA "nvidia"

/* The message so far, and the driver to find. */
struct text {
    char *start;
    size_t size, length;
    const char *driver; /* the wanted driver */
    bool named;         /* the message has mentioned the driver */
};

GR_PRINTF(2, 3) static void append(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(t->start + t->length, t->size - t->length, format, arguments);
    va_end(arguments);
    if (written > 0)
        t->length += (size_t)written;
    if (t->length >= t->size)
        t->length = t->size - 1;
}

/* Reads the next path of a list separated by colons; NULL after the last path. */
static const char *next_path(const char *list, char path[PATH_ROOM])
{
    while (*list == ':')
        list++;
    if (!*list)
        return NULL;
    size_t length = strcspn(list, ":");
    snprintf(path, PATH_ROOM, "%.*s", (int)length, list);
    return list + length;
}

/* ---- One file -------------------------------------------------------------------------------- */

/* Reads "library_path"; false if the file does not have it. */
static bool read_library(const char *file, char library[PATH_ROOM])
{
    char json[4096];
    FILE *in = fopen(file, "re");
    size_t length = in ? fread(json, 1, sizeof(json) - 1, in) : 0;
    if (in)
        fclose(in);
    json[length] = '\0';
    const char *at = strstr(json, "\"library_path\"");
    return at && sscanf(at, "\"library_path\" : \"%255[^\"]", library) == 1;
}

/*
 * Whether the library can be loaded. The loader has tried to load it, too, so this has no lasting
 * effect on the process.
 */
static bool can_load(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (handle)
        dlclose(handle);
    return handle;
}

static void append_file(struct text *t, const char *file)
{
    char library[PATH_ROOM] = "";
    if (access(file, R_OK) != 0)
        append(t, "%.150s (%s)", file, access(file, F_OK) == 0 ? "not readable" : "not there");
    else if (!read_library(file, library))
        append(t, "%.150s (names no library)", file);
    else
        append(t, "%.150s (its %.60s %s)", file, library,
               can_load(library) ? "can be loaded" : "cannot be loaded");
    t->named = t->named || strstr(library, t->driver);
}

/* ---- Folders --------------------------------------------------------------------------------- */

/*
 * Finds the first .json file whose name contains `driver`, or any .json file if `driver` is NULL.
 */
static bool find_in(const char *folder, const char *driver, char file[2 * PATH_ROOM])
{
    const struct dirent *entry;
    bool found = false;
    DIR *dir = opendir(folder);
    while (dir && !found && (entry = readdir(dir))) {
        size_t length = strlen(entry->d_name);
        found = length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0 &&
                (!driver || strstr(entry->d_name, driver));
        if (found)
            snprintf(file, 2 * PATH_ROOM, "%s/%.256s", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

static bool find_in_system(const char *driver, char file[2 * PATH_ROOM])
{
    char folder[PATH_ROOM];
    for (const char *rest = SYSTEM_FOLDERS; (rest = next_path(rest, folder));)
        if (find_in(folder, driver, file))
            return true;
    return false;
}

static void append_folder(struct text *t, const char *folder)
{
    char file[2 * PATH_ROOM];
    if (find_in(folder, NULL, file))
        append_file(t, file);
    else
        append(t, "%.150s (%s)", folder,
               access(folder, F_OK) == 0 ? "has no .json file" : "not there");
}

/* ---- All variables and folders --------------------------------------------------------------- */

static void append_list(struct text *t, const char *variable, const char *list,
                        void (*append_path)(struct text *t, const char *path))
{
    char path[PATH_ROOM];
    const char *before = "";
    append(t, "%s names ", variable);
    for (const char *rest = list; (rest = next_path(rest, path)); before = ", ") {
        append(t, "%s", before);
        append_path(t, path);
    }
    append(t, "%s. ", *before ? "" : "nothing");
}

static void advise_install(struct text *t)
{
    append(
        t, "%s",
        strcmp(t->driver, MESA) == 0
            ? "Install all of Mesa's software OpenGL (on Debian libegl-mesa0 and libgl1-mesa-dri)."
            : "Is the NVIDIA EGL installed (libEGL_nvidia.so.0 and its 10_nvidia.json; in a "
              "container NVIDIA_DRIVER_CAPABILITIES must contain graphics)?");
}

/* Writes the advice if a variable names drivers, but not the wanted driver. */
static void advise_to_name(struct text *t, bool files)
{
    char file[2 * PATH_ROOM];
    if (!find_in_system(t->driver, file)) {
        append(t, "Unset it: it hides the system's drivers from the EGL loader. ");
        advise_install(t);
        return;
    }
    if (!files)
        *strrchr(file, '/') = '\0';
    append(t, "Unset it, or let it name %.150s, which exists.", file);
}

void egl_vendor_advise(bool mesa, char *text, size_t size)
{
    const char *files = gr_machine_setting(FILES), *folders = gr_machine_setting(FOLDERS);
    struct text t = {.start = text, .size = size, .driver = mesa ? MESA : NVIDIA};
    char file[2 * PATH_ROOM];
    *text = '\0';
    if (files)
        append_list(&t, FILES, files, append_file);
    else if (folders)
        append_list(&t, FOLDERS, folders, append_folder);
    else if (find_in_system(t.driver, file))
        append_list(&t, "EGL's loader", file, append_file);
    if ((files || folders) && !t.named)
        advise_to_name(&t, files);
    else
        advise_install(&t);
}
