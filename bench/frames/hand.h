/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared storage and synchronisation by raw calls, for the rows by hand, which measure no grinterop
 * call. OpenGL may use another device than CUDA.
 */
#ifndef FRAMES_HAND_H
#define FRAMES_HAND_H

#include "bench/frames/frames.h"

/* Memory on the drawing device that the CUDA device can access. */
struct hand_buffer {
    CUmemGenericAllocationHandle memory;
    size_t size;
    CUdeviceptr pointer;
    bool mapped;
    unsigned object, name; /* the OpenGL memory object and buffer */
};

/* A Vulkan timeline semaphore that OpenGL and CUDA have imported. */
struct hand_timeline {
    VkSemaphore vulkan;
    CUexternalSemaphore cuda;
    unsigned gl;
};

struct frames_hand {
    /* whether the thread waits instead, since OpenGL has no semaphores (software driver) */
    bool by_thread;
    struct hand_timeline drawn, computed; /* `drawn` is signalled by OpenGL, `computed` by CUDA */
    struct hand_buffer buffers[FRAMES_MOST_SLOTS];
    uint64_t frame; /* the number of the frame that is being enqueued */
};

/* Creates the buffers and the timelines, which end with the scope. */
void hand_make(struct frames_hand *hand, unsigned slots);

/* The same buffer in another process: imports the memory by its descriptor, and maps it. */
void hand_buffer_import(struct hand_buffer *buffer, int fd);
/* Returns a descriptor that the caller owns. */
int hand_buffer_export(const struct hand_buffer *buffer);

void hand_cuda_signal(const struct frames_hand *hand, uint64_t value);
void hand_cuda_wait(const struct frames_hand *hand, uint64_t value);
/* The signal and the wait name the buffer, unless it is NULL. */
void hand_gl_signal(const struct frames_hand *hand, uint64_t value, const unsigned *buffer);
void hand_gl_wait(const struct frames_hand *hand, uint64_t value, const unsigned *buffer);

#endif
