/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies around the drivers: device nodes and who may open them, and variables that change what
 * drivers do; and what surroundings.h has besides.
 */
#define _GNU_SOURCE
#include "tools/info/surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/platform/machine.h"
#include "tools/info/finders.h"
#include "tools/info/rooted.h"
#include "tools/info/say.h"

/* ---- Device nodes ---------------------------------------------------------------------------- */

#define CLOSED                                                                                     \
    "%s is closed to this user: join its group (ls -l names it; often video or render), or let "   \
    "root open it (nvidia-modprobe, udev); a container gets its nodes by --gpus all, on Jetson "   \
    "by --runtime nvidia."

static void say_node(const char *root, const char *path)
{
    char id[ROOTED_ROOM], label[ROOTED_ROOM];
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
    rooted_glob(root, pattern, &nodes);
    size_t count = nodes.gl_pathc;
    for (size_t i = 0; i < count; i++)
        say_node(root, nodes.gl_pathv[i]);
    if (count)
        globfree(&nodes);
    return count;
}

/* Of a Tegra, such as Jetson: true if this is one. Which of the others there are, too, depends on
 * its age: up to Orin it has no /dev/nvidia-uvm. */
static bool say_tegra(const char *root, size_t gpus)
{
    size_t memory = say_nodes(root, "/dev/nvmap");
    size_t own = say_nodes(root, "/dev/nvhost-ctrl-gpu") + say_nodes(root, "/dev/nvgpu/*/ctrl");
    if (!memory && !own && !gr_machine_is_tegra())
        return false;
    if (!memory && (own || !gpus))
        say("surroundings/nodes", MARK_BAD, "/dev/nvmap is not there",
            "CUDA needs it on a Tegra: NVIDIA's kernel makes it, and a container gets it by "
            "--runtime nvidia.");
    return true;
}

static void say_all_nodes(const char *root)
{
    size_t control = say_nodes(root, "/dev/nvidiactl");
    size_t memory = say_nodes(root, "/dev/nvidia-uvm");
    size_t gpus = say_nodes(root, "/dev/nvidia[0-9]*");
    say_nodes(root, "/dev/nvidia-modeset");
    say_nodes(root, "/dev/dri/renderD*");
    if (say_tegra(root, gpus))
        return;
    if (!control && !gpus && !gr_machine_is_wsl())
        say("surroundings/nodes", MARK_NOTE, "no NVIDIA device nodes",
            "There is no /dev/nvidiactl and no /dev/nvidia0: this machine has no NVIDIA GPU or no "
            "driver for it, or the container was given none (--gpus all).");
    else if (!memory && !gr_machine_is_wsl())
        say("surroundings/nodes", MARK_BAD, "/dev/nvidia-uvm is not there",
            "CUDA needs it: nvidia-modprobe -u -c 0, by root, makes it.");
}

/* ---- Variables ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *does;
} variables[] = {
    {"CUDA_VISIBLE_DEVICES", "CUDA sees these devices only, and counts them so"},
    {"CUDA_DEVICE_ORDER", "the order in which CUDA counts"},
    {"GR_CUDA_DRIVER", "the CUDA driver that grinterop takes"},
    {"GR_SOFT_DEVICES", "how many devices the software driver has"},
    {"GR_SOFT_PATIENCE", "after how many seconds the software driver names a kernel"},
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
    say_gpus(find->root);
    say_confinement(find->root);
    say_variables();
    say_versions(find->root); /* last, as it loads drivers */
}
