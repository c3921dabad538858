/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared storage and synchronisation by raw calls, for the rows by hand, which measure no grinterop
 * call. OpenGL may use another device than CUDA.
 */
#ifndef FRAMES_HAND_H
#define FRAMES_HAND_H

#include <cuda.h>
#include <vulkan/vulkan_core.h>

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
    VkDevice device; /* a Vulkan device on the drawing GPU, which creates the timelines */
    PFN_vkDestroySemaphore destroy;
    struct hand_timeline drawn, computed; /* `drawn` is signalled by OpenGL, `computed` by CUDA */
    unsigned slots;
    struct hand_buffer buffers[FRAMES_MOST_SLOTS];
    uint64_t frame; /* the number of the frame that is being enqueued */
};

/* hand_storage.c: false after an error; the end function cleans up in any case. */
bool hand_buffer_make(struct frames *frames, struct hand_buffer *buffer);
void hand_buffer_end(struct frames *frames, struct hand_buffer *buffer);
size_t hand_buffer_size(const struct frames *frames); /* of the memory; 0 after an error */
/* Returns a descriptor that the caller owns, or -1 after an error. */
int hand_buffer_export(const struct frames *frames, const struct hand_buffer *buffer);

/* hand_timeline.c: false after an error; the end function cleans up in any case. */
bool hand_timelines_make(struct frames *frames, struct frames_hand *hand);
void hand_timelines_end(struct frames *frames, struct frames_hand *hand);
/* Returns a descriptor that the caller owns, or -1 after an error. */
int hand_timeline_export(struct frames *frames, struct frames_hand *hand,
                         const struct hand_timeline *timeline);
/* Takes the descriptor. */
bool hand_import_into_cuda(const struct frames *frames, int fd, CUexternalSemaphore *semaphore);
bool hand_cuda_signal(struct frames *frames, const struct frames_hand *hand, uint64_t value);
bool hand_cuda_wait(struct frames *frames, const struct frames_hand *hand, uint64_t value);
/* The signal and the wait name the buffer, unless it is NULL. */
void hand_gl_signal(const struct frames_hand *hand, uint64_t value, const unsigned *buffer);
void hand_gl_wait(const struct frames_hand *hand, uint64_t value, const unsigned *buffer);

#endif
