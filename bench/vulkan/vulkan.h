/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What all files of bench_vulkan share: Vulkan and CUDA objects, the two sides that are compared,
 * and the rows of the tables.
 */
#ifndef BENCH_VULKAN_H
#define BENCH_VULKAN_H

#include <grinterop/submit.h>

#include "bench/bench_vk.h"

enum {
    VKB_RESOURCES = 32,
    VKB_BYTES = 65536, /* the size of a buffer, except of staged rows */
    VKB_SIDES = BENCH_SUBJECTS,
    VKB_MOST_IN_FLIGHT = 128,
    /* Twice the frames in flight, so that an entry that is reused belongs to a finished frame. */
    VKB_FRAMES = 2 * VKB_MOST_IN_FLIGHT,
    VKB_POINTS = 1 << 15,
    VKB_MOST_SUBMITS = 16
};

enum { VKB_RAW, VKB_GRINTEROP };

/* A host wait or a host signal, in stream order. */
struct vkb_point {
    VkSemaphore semaphore;
    uint64_t value;
};

/* One submit and the data of its VkSubmitInfo, kept until a call submits it with others. */
struct vkb_submit {
    VkSemaphore wait, signal;
    uint64_t wait_value, signal_value;
    VkTimelineSemaphoreSubmitInfo values;
};

/*
 * One of the two sides that are compared: raw driver calls or grinterop. Each has its own buffers
 * and semaphores, created alike.
 */
struct vkb_side {
    /* acquire: signalled by Vulkan or the host; release: signalled by CUDA */
    VkSemaphore acquire, release;
    /* the last values signalled: `drawn` on `acquire`, `computed` on `release` */
    uint64_t drawn, computed;
    struct bench_vk_object buffers[VKB_RESOURCES];
    CUdeviceptr pointers[VKB_RESOURCES];
    /* raw ping-pong: the acquire value of the last use of each buffer */
    uint64_t waits_for[VKB_RESOURCES];
    unsigned written[VKB_RESOURCES]; /* the number that CUDA last filled each buffer with */
    VkCommandBuffer commands[VKB_FRAMES];
    uint64_t frames; /* the frames enqueued since the row began */
    /* by frame number: the semaphore value at which the frame is complete */
    uint64_t done[VKB_FRAMES];
    struct vkb_submit submits[VKB_MOST_SUBMITS]; /* the submits that are not yet passed to Vulkan */
    VkSubmitInfo infos[VKB_MOST_SUBMITS];
    unsigned submit_count;

    /* raw side: the semaphores imported into CUDA; NULL if the host waits and signals */
    CUexternalSemaphore cuda_acquire, cuda_release;

    /* grinterop side */
    gr_semaphore *gr_acquire, *gr_release;
    gr_resource *resources[VKB_RESOURCES];
};

/* How long and how often to measure. */
struct vkb_effort {
    unsigned blocks;      /* the maximum number of timed drained blocks of each side */
    double room_seconds;  /* the time limit of a row of drained blocks */
    unsigned full_blocks; /* the number of timed blocks of each side with full queues */
    double block_ms;      /* the approximate duration of a block with full queues */
    unsigned in_flight;   /* the maximum number of frames in flight */
    size_t most_bytes;    /* the maximum size of a staged resource */
};

extern struct vkb {
    struct bench_device on;
    struct vkb_effort effort;
    size_t fill; /* the bytes that CUDA fills in a frame */
    gr_vk_device *device;
    bool through_host; /* the host waits and signals, since semaphores can't be exported */
    bool barriers;     /* whether the raw side enqueues memory barriers */
    struct vkb_side sides[VKB_SIDES];
    /* the arguments of the host functions of the raw side, used in turn */
    struct vkb_point points[VKB_POINTS];
    size_t point;
} vkb;

enum vkb_part { VKB_IMPORT, VKB_RELEASE, VKB_BOTH, VKB_STAGED, VKB_PING_PONG };

/* The description of one row. */
struct vkb_kind {
    struct bench_row row;
    enum vkb_part part;
    /* Enqueues one frame of a side. */
    void (*frame[VKB_SIDES])(struct vkb_side *side, const struct vkb_kind *kind);
    /* the resources per frame; in ping-pong: the resources used in turn */
    unsigned resources;
    unsigned points; /* the number of waits, and of signals, per frame: 1, or one per resource */
    unsigned room_frames; /* the frames in a drained block; 0 if the queues are full */
    /* whether a frame is complete at its CUDA signal instead of its Vulkan signal */
    bool paced_by_release;
    unsigned queue;     /* such as BENCH_GRAPHICS */
    unsigned submits;   /* ping-pong: submits per vkQueueSubmit call */
    unsigned copies;    /* ping-pong: resources copied per submit */
    size_t bytes;       /* staged: the size of the buffer or image */
    unsigned in_flight; /* staged */
    bool image;
};

extern const struct vkb_kind vkb_import_rows[], vkb_map_rows[], vkb_trip_rows[], vkb_staged_rows[];

void vkb_drain(void);

/* sides.c */
void vkb_open_sides(void);
struct bench_vk_object vkb_make_buffer(void);
void vkb_raw_wait(const struct vkb_side *side, uint64_t value);
void vkb_raw_signal(const struct vkb_side *side, uint64_t value);
void vkb_fill(struct vkb_side *side, unsigned resource);

/* import.c */
VkImageCreateInfo vkb_image_info(uint32_t width, uint32_t height);
void vkb_make_spares(void); /* a buffer and an image, which are imported and destroyed */
CUexternalMemory vkb_import_memory(const struct bench_vk_object *object, bool dedicated);
gr_resource *vkb_import_grinterop(const struct bench_vk_object *object);

/* ping_pong.c, staged.c: record the commands of the row, and check its work */
void vkb_record(const struct vkb_kind *kind);
void vkb_check_work(const struct vkb_kind *kind);
void vkb_open_staged(const struct vkb_kind *kind);
void vkb_record_staged(const struct vkb_side *side, VkCommandBuffer commands);
void vkb_check_staged(void);

/* measure.c */
void vkb_measure(const void *row);

#endif
