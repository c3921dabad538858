/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One way between graphics and CUDA that --probe tries with bytes. Its id says all of it:
 *
 *     probe/opengl/0/buffer/interop           OpenGL's buffer on CUDA device 0, by interop
 *     probe/opengl/0/cuda/1/buffer/peer       the same with CUDA on device 1, from GPU to GPU
 *     probe/renderer/2/image/copy             OpenGL on EGL device 2, its image, by copy
 *     probe/glx/0/buffer/interop              OpenGL of the display, which windows have
 *     probe/cuda/0/cuda/1/peer                two GPUs, each of which reaches the other's memory
 *     probe/software/vulkan/0/buffer          on the software driver, though another one is there
 */
#ifndef INFO_PROBE_H
#define INFO_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum probe_api { PROBE_OPENGL, PROBE_RENDERER, PROBE_GLX, PROBE_VULKAN, PROBE_CUDA };

struct probe {
    bool software; /* on the software driver, beside the one that programs get */
    enum probe_api api;
    int device;      /* that draws: CUDA counts, for a renderer EGL; 0 for GLX */
    int cuda_device; /* that computes */
    char what[32];   /* the end of the id: "buffer/interop" */
};

/* Writes the id, and what people read: "OpenGL on CUDA device 0: a ring with ...". */
void probe_id(const struct probe *probe, char *id, size_t size);
void probe_label(const struct probe *probe, char *label, size_t size);

/* What follows "probe/" in an id. False: it is none. */
bool probe_parse(const char *id, struct probe *probe);

#endif
