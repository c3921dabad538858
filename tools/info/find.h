/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The finders: each examines one subject, in its own process (child.c). */
#ifndef INFO_FIND_H
#define INFO_FIND_H

#include "tools/info/finding.h"

/* The input of a finder. */
struct find {
    const char *argument; /* the part of the finder after its name; "" if there is none */
    int device;           /* the number in `argument`; 0 if there is none */
    const char *root;     /* the folder that replaces / in file names */
};

void find_cuda(const struct find *find);     /* the CUDA driver and its devices */
void find_software(const struct find *find); /* whether the software driver is available as well */
void find_egl(const struct find *find);      /* the EGL drivers and devices */
void find_opengl(const struct find *find);   /* OpenGL on a CUDA device */
void find_renderer(const struct find *find); /* OpenGL on another EGL device */
void find_glx(const struct find *find);      /* OpenGL of the display */
void find_vulkan_devices(const struct find *find); /* the Vulkan devices */
void find_vulkan(const struct find *find);         /* Vulkan on a CUDA device */
void find_way(const struct find *find); /* tries one way between graphics and CUDA (ways.c) */
void find_surroundings(
    const struct find *find); /* device nodes, containers, variables and versions */

/*
 * Runs the finder "NAME", "NAME:NUMBER" or "NAME/..." in this process. False if no finder has that
 * name.
 */
bool find_by_name(const char *finder, const char *root);

#endif
