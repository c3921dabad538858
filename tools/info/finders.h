/* SPDX-License-Identifier: Apache-2.0 */
/* The finders: each asks about one subject, in a process of its own (child.h). */
#ifndef INFO_FINDERS_H
#define INFO_FINDERS_H

#include <stdbool.h>

/* What a finder is told. */
struct find {
    const char *argument; /* what follows the finder's name; "": nothing */
    int device;           /* the number that it is; 0: there is none */
    const char *root;     /* the folder that stands for / when files are looked at */
};

/* CUDA's driver and devices (cuda.c). */
void find_cuda(const struct find *find);
/* Whether the software driver can be had, too (cuda.c). */
void find_software(const struct find *find);
/* EGL's drivers and devices (egl.c). */
void find_egl(const struct find *find);
/* OpenGL on a CUDA device, and on another EGL device, with its transports (opengl.c). */
void find_opengl(const struct find *find);
void find_renderer(const struct find *find);
/* OpenGL of the display (glx.c). */
void find_glx(const struct find *find);
/* Vulkan's devices, and Vulkan on a CUDA device (vulkan.c). */
void find_vulkan_devices(const struct find *find);
void find_vulkan(const struct find *find);
/* Tries one way with bytes (probe_run.c). */
void find_probe(const struct find *find);
/* Measures on a CUDA device that OpenGL draws on (bench.c). */
void find_bench(const struct find *find);
/* What lies around the drivers (surroundings.c). */
void find_surroundings(const struct find *find);

/* Whether there is one of that name: grinterop may be built without OpenGL or Vulkan. */
bool finders_have(const char *name);

/* Runs the finder "NAME", "NAME:NUMBER" or "NAME/..." in this process. False: there is none. */
bool finders_run(const char *finder, const char *root);

#endif
