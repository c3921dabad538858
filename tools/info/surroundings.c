/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies around the drivers: device nodes and who may open them, the kernel's part of the
 * driver, containers, WSL, GPUs of two makers, and variables that change what drivers do.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/machine.h"
#include "tools/info/finders.h"
#include "tools/info/say.h"

enum { PATH_ROOM = 600 };

/* ---- Device nodes ---------------------------------------------------------------------------- */

/* All that the pattern names below the root. */
static void find_nodes(const char *root, const char *pattern, glob_t *nodes)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof(path), "%s%s", root, pattern);
    if (glob(path, 0, NULL, nodes) != 0)
        *nodes = (glob_t){0};
}

#define CLOSED                                                                                     \
    "%s is closed to this user: join its group (ls -l names it; often video or render), or let "   \
    "root open it (nvidia-modprobe, udev); a container gets its nodes by --gpus all."

static void say_node(const char *root, const char *path)
{
    char id[PATH_ROOM], label[PATH_ROOM];
    const char *name = path + strlen(root), *state = gr_machine_node(path);
    snprintf(id, sizeof(id), "surroundings%s", name);
    snprintf(label, sizeof(label), "%s is %s", name, state);
    /* NVIDIA's drivers can do without those of Linux's own interface. */
    bool needed = strncmp(name, "/dev/dri/", strlen("/dev/dri/")) != 0;
    if (strcmp(state, "there") == 0)
        say_detail(id, MARK_GOOD, label, "%s", "");
    else
        say(id, needed ? MARK_BAD : MARK_NOTE, label, CLOSED, name);
}

/* How many there are. */
static size_t say_nodes(const char *root, const char *pattern)
{
    glob_t nodes;
    find_nodes(root, pattern, &nodes);
    size_t count = nodes.gl_pathc;
    for (size_t i = 0; i < count; i++)
        say_node(root, nodes.gl_pathv[i]);
    if (count)
        globfree(&nodes);
    return count;
}

static void say_all_nodes(const char *root)
{
    size_t control = say_nodes(root, "/dev/nvidiactl");
    size_t memory = say_nodes(root, "/dev/nvidia-uvm");
    size_t gpus = say_nodes(root, "/dev/nvidia[0-9]*");
    say_nodes(root, "/dev/nvidia-modeset");
    say_nodes(root, "/dev/dri/renderD*");
    if (!control && !gpus && !gr_machine_is_wsl())
        say("surroundings/nodes", MARK_NOTE, "no NVIDIA device nodes",
            "There is no /dev/nvidiactl and no /dev/nvidia0: this machine has no NVIDIA GPU or no "
            "driver for it, or the container was given none (--gpus all).");
    else if (!memory && !gr_machine_is_wsl())
        say("surroundings/nodes", MARK_BAD, "/dev/nvidia-uvm is not there",
            "CUDA needs it: nvidia-modprobe -u -c 0, by root, makes it.");
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_there(const char *root, const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof(path), "%s%s", root, name);
    return access(path, F_OK) == 0;
}

/* The file's first line; false if it cannot be read. */
static bool read_line(const char *root, const char *name, char *line, size_t size)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof(path), "%s%s", root, name);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    return read;
}

static void say_kernel_driver(const char *root)
{
    char line[300];
    if (!read_line(root, "/proc/driver/nvidia/version", line, sizeof(line)))
        return;
    say_detail("surroundings/kernel", MARK_NOTE, "NVIDIA's driver in the kernel", "%s", line);
}

/* ---- Containers and WSL ---------------------------------------------------------------------- */

static bool in_container(const char *root)
{
    return is_there(root, "/.dockerenv") || is_there(root, "/run/.containerenv") ||
           getenv("container") || getenv("NVIDIA_VISIBLE_DEVICES");
}

static bool is_among(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/*
 * NVIDIA's container runtime reads them; the default is utility,compute. They are a hint only: the
 * drivers may have come into the container by another way.
 */
static void say_capabilities(void)
{
    const char *has = getenv("NVIDIA_DRIVER_CAPABILITIES");
    if (!getenv("NVIDIA_VISIBLE_DEVICES") && !has)
        return;
    if (has && (is_among(has, "all") || (is_among(has, "graphics") && is_among(has, "compute"))))
        say_detail("surroundings/capabilities", MARK_GOOD, "the container has CUDA and OpenGL",
                   "NVIDIA_DRIVER_CAPABILITIES is %s.", has);
    else
        say("surroundings/capabilities", MARK_NOTE, "the container may lack drivers",
            "NVIDIA_DRIVER_CAPABILITIES is %s%s: CUDA needs compute, OpenGL and Vulkan need "
            "graphics. Start the container with -e "
            "NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility.",
            has ? has : "not set", has ? "" : ", which is utility,compute");
}

static void say_container(const char *root)
{
    if (!in_container(root))
        return;
    say_detail("surroundings/container", MARK_NOTE, "this is a container", "%s",
               "Drivers and device nodes are those that it was given.");
    say_capabilities();
}

static void say_wsl(void)
{
    if (gr_machine_is_wsl())
        say("surroundings/wsl", MARK_NOTE, "this is WSL",
            "WSL does not support sharing between OpenGL and CUDA: GR_TRANSPORT_COPY works. "
            "/dev/dxg, "
            "by which the GPU comes, is %s.",
            gr_machine_node("/dev/dxg"));
}

/* ---- GPUs of two makers ---------------------------------------------------------------------- */

#define NVIDIA_VENDOR "0x10de"

/* Whether a card is NVIDIA's (or, with false, another maker's). */
static bool has_card(const glob_t *files, bool nvidia)
{
    char vendor[32];
    for (size_t i = 0; i < files->gl_pathc; i++)
        if (read_line("", files->gl_pathv[i], vendor, sizeof(vendor)) &&
            (strcmp(vendor, NVIDIA_VENDOR) == 0) == nvidia)
            return true;
    return false;
}

static void say_optimus(const char *root)
{
    glob_t files;
    find_nodes(root, "/sys/class/drm/card*/device/vendor", &files);
    if (!files.gl_pathc)
        return;
    if (has_card(&files, true) && has_card(&files, false))
        say("surroundings/optimus", MARK_NOTE, "GPUs of two makers",
            "Windows may be drawn by the other one. A program draws on NVIDIA's with "
            "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia, or without a window by "
            "gr_egl_create().");
    globfree(&files);
}

/* ---- Variables ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *does;
} variables[] = {
    {"CUDA_VISIBLE_DEVICES", "CUDA sees these devices only, and counts them so"},
    {"CUDA_DEVICE_ORDER", "the order in which CUDA counts"},
    {"GR_CUDA_DRIVER", "the CUDA driver that grinterop takes"},
    {"GR_SOFT_DEVICES", "how many devices the software driver has"},
    {"LD_LIBRARY_PATH", "folders in which drivers are looked for first"},
    {"LD_PRELOAD", "libraries that are loaded before the drivers"},
    {"__EGL_VENDOR_LIBRARY_FILENAMES", "EGL knows these drivers only"},
    {"__EGL_VENDOR_LIBRARY_DIRS", "EGL looks for drivers in these folders only"},
    {"EGL_PLATFORM", "Mesa's platform for EGL's default display"},
    {"LIBGL_ALWAYS_SOFTWARE", "Mesa draws on the processor"},
    {"MESA_GL_VERSION_OVERRIDE", "the OpenGL version that Mesa gives"},
    {"MESA_LOADER_DRIVER_OVERRIDE", "the driver that Mesa takes"},
    {"__GLX_VENDOR_LIBRARY_NAME", "the OpenGL driver of windows"},
    {"__NV_PRIME_RENDER_OFFLOAD", "windows are drawn by NVIDIA's GPU"},
    {"VGL_ISACTIVE", "VirtualGL is active: its EGL back end hides the GPU from CUDA"},
    {"VK_DRIVER_FILES", "Vulkan knows these drivers only"},
    {"VK_ICD_FILENAMES", "Vulkan knows these drivers only (its older name)"},
    {"VK_LOADER_LAYERS_ENABLE", "Vulkan's layers"},
    {"NVIDIA_VISIBLE_DEVICES", "the GPUs that the container was given"},
    {"NVIDIA_DRIVER_CAPABILITIES", "the drivers that the container was given"},
};

static void say_variables(void)
{
    char id[80], label[400];
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i].name);
        if (!value)
            continue;
        snprintf(id, sizeof(id), "surroundings/variable/%s", variables[i].name);
        snprintf(label, sizeof(label), "%s=%.300s", variables[i].name, value);
        say_detail(id, MARK_NOTE, label, "%s.", variables[i].does);
        say_fact("value", "%s", value);
    }
}

void find_surroundings(const struct find *find)
{
    say_all_nodes(find->root);
    say_kernel_driver(find->root);
    say_container(find->root);
    say_wsl();
    say_optimus(find->root);
    say_variables();
}
