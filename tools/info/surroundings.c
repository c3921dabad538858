/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The system around the drivers: device nodes and their permissions, the kernel drivers of the
 * GPUs, containers, WSL, variables that affect drivers, and versions that must match.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <grinterop/gr.h>

#include "config.h"
#include "lib/base/loader.h"
#include "lib/base/machine.h"
#include "tools/info/finding.h"

/* ---- Files below `root`, which replaces / in tests ------------------------------------------- */

static bool is_there(const char *root, const char *name)
{
    return access(text_of("%s%s", root, name), F_OK) == 0;
}

/* Reads the first line of a file, without its newline. False on failure. */
static bool read_line(const char *root, const char *name, char *line, size_t size)
{
    FILE *file = fopen(text_of("%s%s", root, name), "re");
    bool read = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    return read;
}

/* ---- Device nodes ---------------------------------------------------------------------------- */

/* Reports all device nodes that match the pattern. Returns their number. */
static size_t say_nodes(const char *root, const char *pattern)
{
    /* The NVIDIA driver also works without the DRM nodes. */
    const unsigned closed = strncmp(pattern, "/dev/dri/", 9) == 0 ? MARK_NOTE : MARK_BAD;
    glob_t nodes;
    if (glob(text_of("%s%s", root, pattern), 0, NULL, &nodes) != 0)
        return 0;
    size_t count = nodes.gl_pathc;
    for (size_t i = 0; i < count; i++) {
        const char *path = nodes.gl_pathv[i], *name = path + strlen(root);
        const char *state = gr_machine_node(path);
        const char *id = text_of("surroundings%s", name), *label = text_of("%s is %s", name, state);
        if (strcmp(state, "there") == 0)
            say(id, MARK_GOOD | DETAIL, label, "%s", "");
        else
            say(id, closed, label,
                "This user may not open %s: join its group (shown by ls -l; often video or "
                "render), or let root change its permissions (nvidia-modprobe, udev); a container "
                "gets device nodes by --gpus all, on Jetson by --runtime nvidia.",
                name);
    }
    globfree(&nodes);
    return count;
}

/*
 * Reports the device nodes of a Tegra, such as Jetson. True if this machine is a Tegra. Its other
 * nodes depend on the generation: up to Orin, a Tegra has no /dev/nvidia-uvm.
 */
static bool say_tegra(const char *root, size_t gpus)
{
    size_t memory = say_nodes(root, "/dev/nvmap");
    size_t own = say_nodes(root, "/dev/nvhost-ctrl-gpu") + say_nodes(root, "/dev/nvgpu/*/ctrl");
    if (!memory && !own && !gr_machine_is_tegra())
        return false;
    if (!memory && (own || !gpus))
        say("surroundings/nodes", MARK_BAD, "/dev/nvmap is missing",
            "CUDA needs it on a Tegra: NVIDIA's kernel creates it, and a container gets it by "
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
            "driver for it, or the container got none (--gpus all).");
    else if (!memory && !gr_machine_is_wsl())
        say("surroundings/nodes", MARK_BAD, "/dev/nvidia-uvm is missing",
            "CUDA needs it: run nvidia-modprobe -u -c 0 as root to create it.");
}

/* ---- Kernel drivers of the GPUs -------------------------------------------------------------- */

static void say_gpus(const char *root)
{
    glob_t files;
    char line[32];
    bool nvidia = false, other = false;
    if (glob(text_of("%s/sys/class/drm/card*/device/vendor", root), 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            if (read_line("", files.gl_pathv[i], line, sizeof(line)))
                *(strcmp(line, "0x10de") == 0 ? &nvidia : &other) = true;
        globfree(&files);
    }
    if (nvidia && other)
        say("surroundings/optimus", MARK_NOTE, "GPUs of two vendors",
            "The other GPU may draw the windows. A program draws on the NVIDIA GPU with "
            "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia, or without a window by "
            "gr_egl_create().");
    /* The free driver nouveau has no CUDA, and prevents the NVIDIA driver from using the card. */
    if (nvidia && is_there(root, "/sys/module/nouveau") &&
        !is_there(root, "/proc/driver/nvidia/version"))
        say("surroundings/nouveau", MARK_BAD, "the GPU uses the nouveau driver",
            "CUDA needs NVIDIA's own kernel driver: install it, which disables nouveau, and "
            "restart.");
    /* Ubuntu writes this file when the user switches between the two GPUs of a laptop. */
    if (read_line(root, "/etc/prime-discrete", line, sizeof(line)) &&
        (strcmp(line, "off") == 0 || strcmp(line, "intel") == 0))
        say("surroundings/prime", MARK_BAD, "the NVIDIA GPU is switched off",
            "Run prime-select on-demand as root and restart to switch it on.");
}

/* ---- Containers ------------------------------------------------------------------------------ */

/*
 * Reports the variables that the NVIDIA container runtime reads; their default is utility,compute.
 * The variables are only a hint: the drivers may have been added to the container in another way.
 */
static void say_container(const char *root)
{
    const char *has = getenv("NVIDIA_DRIVER_CAPABILITIES");
    /* Apptainer and Singularity add drivers to a container only on request. */
    if ((getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER")) &&
        !is_there(root, "/.singularity.d/libs/libcuda.so.1"))
        say("surroundings/apptainer", MARK_NOTE,
            "this is an Apptainer container without the driver",
            "Start it with --nv, which adds the host's driver.");
    if (has && (strstr(has, "all") || (strstr(has, "graphics") && strstr(has, "compute"))))
        say("surroundings/capabilities", MARK_GOOD | DETAIL, "the container has CUDA and OpenGL",
            "NVIDIA_DRIVER_CAPABILITIES is %s.", has);
    else if (has || getenv("NVIDIA_VISIBLE_DEVICES"))
        say("surroundings/capabilities", MARK_NOTE, "the container may lack drivers",
            "NVIDIA_DRIVER_CAPABILITIES is %s%s: CUDA needs compute, OpenGL and Vulkan need "
            "graphics. Start the container with -e "
            "NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility.",
            has ? has : "not set", has ? "" : ", which is utility,compute");
}

/* ---- WSL ------------------------------------------------------------------------------------- */

/* The CUDA driver of WSL comes with the Windows driver. An installed Linux driver hides it. */
#define WSL_DRIVER "/usr/lib/wsl/lib/libcuda.so.1"

static void say_wsl(const char *root)
{
    char release[200];
    if (!read_line(root, "/proc/sys/kernel/osrelease", release, sizeof(release)) ||
        !strstr(release, "microsoft"))
        return;
    say("surroundings/wsl", MARK_NOTE, "this is WSL",
        "WSL does not support sharing between OpenGL and CUDA: GR_TRANSPORT_COPY works. /dev/dxg, "
        "the node of the GPU, is %s.",
        is_there(root, "/dev/dxg") ? gr_machine_node("/dev/dxg") : "not there");
    if (!is_there(root, WSL_DRIVER))
        say("surroundings/wsl/driver", MARK_BAD, WSL_DRIVER " is not there",
            "The Windows driver provides it: install NVIDIA's driver in Windows, none in WSL, and "
            "restart WSL by wsl --shutdown.");
}

/* ---- Variables ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *does;
} variables[] = {
    {"CUDA_VISIBLE_DEVICES", "CUDA sees only these devices, and numbers them in this order"},
    {"CUDA_DEVICE_ORDER", "how CUDA orders the devices"},
    {"GR_CUDA_DRIVER", "the CUDA driver that grinterop uses"},
    {"GR_COMPAT", "the transports of programs that use compat.h"},
    {"GR_LOG", "what grinterop logs on standard error"},
    {"GR_SOFT_DEVICES", "the number of devices of the software driver"},
    {"GR_SOFT_PATIENCE", "seconds after which the software driver names a kernel that still runs"},
    {"LD_LIBRARY_PATH", "folders searched first for drivers"},
    {"LD_PRELOAD", "libraries loaded before the drivers"},
    {"__EGL_VENDOR_LIBRARY_FILENAMES", "EGL uses only these drivers"},
    {"__EGL_VENDOR_LIBRARY_DIRS", "EGL searches for drivers only in these folders"},
    {"EGL_PLATFORM", "Mesa's platform for EGL's default display"},
    {"LIBGL_ALWAYS_SOFTWARE", "Mesa draws on the CPU"},
    {"MESA_GL_VERSION_OVERRIDE", "the OpenGL version that Mesa reports"},
    {"MESA_LOADER_DRIVER_OVERRIDE", "the driver that Mesa uses"},
    {"__GLX_VENDOR_LIBRARY_NAME", "the OpenGL driver of windows"},
    {"__NV_PRIME_RENDER_OFFLOAD", "windows are drawn by the NVIDIA GPU"},
    {"VGL_ISACTIVE", "VirtualGL is active: its EGL back end hides the GPU from CUDA"},
    {"VK_DRIVER_FILES", "Vulkan uses only these drivers"},
    {"VK_ICD_FILENAMES", "Vulkan uses only these drivers (older name)"},
    {"VK_LOADER_LAYERS_ENABLE", "Vulkan's layers"},
    {"NVIDIA_VISIBLE_DEVICES", "the GPUs given to the container"},
    {"NVIDIA_DRIVER_CAPABILITIES", "the drivers given to the container"},
};

static void say_variables(void)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *name = variables[i].name, *value = getenv(name);
        if (!value)
            continue;
        say(text_of("surroundings/variable/%s", name), MARK_NOTE | DETAIL,
            text_of("%s=%.300s", name, value), "%s.", variables[i].does);
        say_fact("value", "%s", value);
    }
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* `version` receives the version of the kernel module, such as 580.65.06, or "". */
static void say_kernel(const char *root, char *version, size_t size)
{
    char line[300], *rest = line, *word = "";
    *version = '\0';
    if (!read_line(root, "/proc/driver/nvidia/version", line, sizeof(line)))
        return;
    say("surroundings/kernel", MARK_NOTE | DETAIL, "NVIDIA's kernel driver", "%s", line);
    while (word && (strspn(word, "0123456789.") != strlen(word) || !strchr(word, '.')))
        word = strsep(&rest, " \t");
    snprintf(version, size, "%s", word ? word : "");
    say_fact("version", "%s", version);
}

/*
 * The file that the library's name links to; its name has the version of the driver:
 * libcuda.so.580.65.06. NULL if there is no version: libcuda.so.1.1 of Jetson has the same name in
 * all versions, and the libcuda of the software driver matches no kernel driver.
 */
static char *file_of(void *library, const char **version)
{
    struct link_map *map;
    char *file = NULL;
    if (library && !dlsym(library, "gr_softcuda_version") &&
        dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        file = realpath(map->l_name, NULL);
    *version = file ? strstr(file, ".so.") : NULL;
    if (*version && strspn(*version += strlen(".so."), "0123456789") >= 3 && strchr(*version, '.'))
        return file;
    free(file);
    return NULL;
}

static void say_file(const char *name, const char *what, const char *kernel)
{
    const char *version, *id = text_of("surroundings/version/%s", what);
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    const char *error = library ? NULL : dlerror();
    /* The loaders of EGL and Vulkan silently skip a driver that needs a missing library. */
    if (error && strncmp(error, name, strlen(name)) != 0)
        say(id, MARK_BAD, text_of("%s does not load", name),
            "%s. NVIDIA's driver for %s needs that library: install its package (libXext.so.6 is "
            "in libxext6 on Debian), also without a display.",
            error, strcmp(what, "GLX") == 0 ? "GLX and Vulkan" : what);
    char *file = file_of(library, &version);
    bool apart = file && *kernel && strcmp(version, kernel) != 0;
    if (apart && strstr(file, "/compat/"))
        say(id, MARK_NOTE, "the CUDA driver is a forward compatibility package",
            "%s works with the kernel driver %s only on some GPUs: on others cuInit returns 804 "
            "(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE). In that case remove the package from "
            "LD_LIBRARY_PATH.",
            file, kernel);
    else if (apart)
        say(id, MARK_BAD, "two versions of NVIDIA's driver",
            "The kernel has %s, but %s is loaded: CUDA returns 803 "
            "(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH), OpenGL and Vulkan do not start. Restart the "
            "machine after an update; a container needs the host's own driver mounted.",
            kernel, file);
    else if (file)
        say(id, (*kernel ? MARK_GOOD : MARK_NOTE) | DETAIL,
            text_of("NVIDIA's driver for %s is %s", what, version), "%s", file);
    free(file);
}

static void say_library(void)
{
    Dl_info where = {.dli_fname = "?"};
    const char *version = gr_library_version();
    void *symbol = dlsym(RTLD_DEFAULT, "gr_library_version");
    if (symbol)
        dladdr(symbol, &where);
    if (strcmp(version, PACKAGE_VERSION) == 0)
        say("surroundings/version/grinterop", MARK_GOOD | DETAIL, "grinterop " PACKAGE_VERSION,
            "%s", where.dli_fname);
    else
        say("surroundings/version/grinterop", MARK_BAD, "two versions of grinterop",
            "This command has the version " PACKAGE_VERSION
            ", but loads a library of version %s (%s): another grinterop is installed, or "
            "LD_LIBRARY_PATH contains its folder.",
            version, where.dli_fname);
}

/* ---- All ------------------------------------------------------------------------------------- */

void find_surroundings(const struct find *find)
{
    char kernel[40];
    const char *driver = getenv("GR_CUDA_DRIVER");
    bool named = driver && *driver && strcmp(driver, "soft") != 0;
    say_all_nodes(find->root);
    say_gpus(find->root);
    say_container(find->root);
    say_wsl(find->root);
    if (getauxval(AT_SECURE))
        say("surroundings/rights", MARK_NOTE, "the program has more privileges than its user",
            "It is setuid or setgid, or its file has capabilities (getcap): the loaders of "
            "libraries, EGL and Vulkan then ignore LD_LIBRARY_PATH, __EGL_VENDOR_LIBRARY_FILENAMES "
            "and VK_DRIVER_FILES.");
    say_variables();
    say_kernel(find->root, kernel, sizeof(kernel));
    say_library();
    /* These calls come last, since they load drivers. */
    say_file(named ? driver : GR_REAL_DRIVER, "CUDA", kernel);
    say_file("libEGL_nvidia.so.0", "EGL", kernel);
    say_file("libGLX_nvidia.so.0", "GLX", kernel);
}
