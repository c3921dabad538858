/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared storage made and synchronised by raw calls, as the rows by hand use it: no call of
 * grinterop's is timed there. OpenGL may be on another device than CUDA.
 */
#ifndef FRAMES_HAND_H
#define FRAMES_HAND_H

#include <vulkan/vulkan_core.h>

#include "bench/frames/frames.h"

/* Memory of the drawing device that the CUDA device can access. */
struct hand_buffer {
    CUmemGenericAllocationHandle memory;
    size_t size;
    CUdeviceptr pointer;
    bool mapped;
    unsigned object, name; /* OpenGL's memory object and buffer */
};

/* A Vulkan timeline semaphore that OpenGL and CUDA have imported. */
struct hand_timeline {
    VkSemaphore vulkan;
    CUexternalSemaphore cuda;
    unsigned gl;
};

struct frames_hand {
    bool by_thread;  /* OpenGL has no semaphores: the software driver's rows wait on the thread */
    VkDevice device; /* of the drawing GPU; it makes the timelines */
    PFN_vkDestroySemaphore destroy;
    struct hand_timeline drawn, computed; /* signalled by OpenGL; by CUDA */
    unsigned slots;
    struct hand_buffer buffers[FRAMES_MOST_SLOTS];
    uint64_t frame; /* the one that is being enqueued */
};

/* hand_storage.c: false after an error; either way the end function cleans up. */
bool hand_buffer_make(struct frames *frames, struct hand_buffer *buffer);
void hand_buffer_end(struct frames *frames, struct hand_buffer *buffer);

/* hand_timeline.c: likewise. */
bool hand_timelines_make(struct frames *frames, struct frames_hand *hand);
void hand_timelines_end(struct frames *frames, struct frames_hand *hand);
bool hand_cuda_signal(struct frames *frames, const struct frames_hand *hand, uint64_t value);
bool hand_cuda_wait(struct frames *frames, const struct frames_hand *hand, uint64_t value);
void hand_gl_signal(const struct frames_hand *hand, uint64_t value, unsigned count,
                    const unsigned *buffer);
void hand_gl_wait(const struct frames_hand *hand, uint64_t value, unsigned count,
                  const unsigned *buffer);

#endif
