/* SPDX-License-Identifier: Apache-2.0 */
/* What the program is kept in, so that drivers are not found or do less. */
#define _GNU_SOURCE
#include "tools/info/surroundings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/platform/machine.h"
#include "tools/info/rooted.h"
#include "tools/info/say.h"

/* ---- Containers ------------------------------------------------------------------------------ */

static bool in_container(const char *root)
{
    return rooted_is_there(root, "/.dockerenv") || rooted_is_there(root, "/run/.containerenv") ||
           getenv("container") || getenv("NVIDIA_VISIBLE_DEVICES");
}

/* They take drivers in if they are told to. */
static void say_apptainer(const char *root)
{
    if ((getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER")) &&
        !rooted_is_there(root, "/.singularity.d/libs/libcuda.so.1"))
        say("surroundings/apptainer", MARK_NOTE,
            "this is an Apptainer container without the driver",
            "Start it with --nv, which takes in the machine's own.");
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
    say_apptainer(root);
    if (!in_container(root))
        return;
    say_detail("surroundings/container", MARK_NOTE, "this is a container", "%s",
               "Drivers and device nodes are those that it was given.");
    say_capabilities();
}

/* ---- WSL ------------------------------------------------------------------------------------- */

static bool is_wsl(const char *root)
{
    char release[200];
    return gr_machine_is_wsl() ||
           (*root && rooted_line(root, "/proc/sys/kernel/osrelease", release, sizeof(release)) &&
            strstr(release, "microsoft"));
}

/* Windows's driver brings it; a driver for Linux that was installed hides it. */
#define WSL_DRIVER "/usr/lib/wsl/lib/libcuda.so.1"

static void say_wsl(const char *root)
{
    if (!is_wsl(root))
        return;
    say("surroundings/wsl", MARK_NOTE, "this is WSL",
        "WSL does not support sharing between OpenGL and CUDA: GR_TRANSPORT_COPY works. /dev/dxg, "
        "by which the GPU comes, is %s.",
        rooted_is_there(root, "/dev/dxg") ? gr_machine_node("/dev/dxg") : "not there");
    if (!rooted_is_there(root, WSL_DRIVER))
        say("surroundings/wsl/driver", MARK_BAD, WSL_DRIVER " is not there",
            "Windows's driver brings it: install NVIDIA's driver in Windows, none in WSL, and "
            "restart WSL by wsl --shutdown.");
}

/* ---- Rights ---------------------------------------------------------------------------------- */

static void say_rights(void)
{
    if (getauxval(AT_SECURE))
        say("surroundings/rights", MARK_NOTE, "the program has more rights than its user",
            "It is setuid or setgid, or its file has capabilities (getcap): the loaders of "
            "libraries, EGL and Vulkan then ignore LD_LIBRARY_PATH, __EGL_VENDOR_LIBRARY_FILENAMES "
            "and VK_DRIVER_FILES.");
}

void say_confinement(const char *root)
{
    say_container(root);
    say_wsl(root);
    say_rights();
}
