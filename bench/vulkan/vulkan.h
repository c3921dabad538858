/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of bench_vulkan share: Vulkan's and CUDA's objects, the two sides that are
 * compared, and the rows of the table.
 */
#ifndef BENCH_VULKAN_H
#define BENCH_VULKAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grinterop/cuda.h>
#include <grinterop/submit.h>
#include <grinterop/vk.h>

#include "bench/bench.h"

enum {
    VKB_RESOURCES = 32,
    VKB_SIDES = 2,
    VKB_MOST_IN_FLIGHT = 128,
    /* Twice the frames in flight, so that what a frame uses again is surely idle. */
    VKB_FRAMES = 2 * VKB_MOST_IN_FLIGHT,
    VKB_POINTS = 1 << 15,
    VKB_MOST_SUBMITS = 16,
    VKB_ROWS = 60
};

enum { VKB_RAW, VKB_GRINTEROP };
enum vkb_queue { VKB_GRAPHICS, VKB_COMPUTE, VKB_TRANSFER, VKB_QUEUES };

#define VKB_FUNCTIONS(X)                                                                           \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkAllocateMemory)                                                                            \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkBindBufferMemory)                                                                          \
    X(vkBindImageMemory)                                                                           \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCreateBuffer)                                                                              \
    X(vkCreateCommandPool)                                                                         \
    X(vkCreateImage)                                                                               \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroyBuffer)                                                                             \
    X(vkDestroyCommandPool)                                                                        \
    X(vkDestroyImage)                                                                              \
    X(vkDestroySemaphore)                                                                          \
    X(vkDeviceWaitIdle)                                                                            \
    X(vkEndCommandBuffer)                                                                          \
    X(vkFreeMemory)                                                                                \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetImageMemoryRequirements)                                                                \
    X(vkGetMemoryFdKHR)                                                                            \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkQueueSubmit)                                                                               \
    X(vkSignalSemaphore)                                                                           \
    X(vkWaitSemaphores)

#define VKB_MEMBER(name) PFN_##name name;
struct vkb_functions {
    VKB_FUNCTIONS(VKB_MEMBER)
};
#undef VKB_MEMBER

/* A buffer or an image with memory of its own that is exported. */
struct vkb_object {
    VkBuffer buffer;
    VkImage image;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
};

/* A wait or signal of the host's, in stream order. */
struct vkb_point {
    const struct vkb *bench;
    VkSemaphore semaphore;
    uint64_t value;
};

/* One submit with what its VkSubmitInfo points to, until a call takes it with others. */
struct vkb_submit {
    VkSemaphore wait, signal;
    uint64_t wait_value, signal_value;
    VkTimelineSemaphoreSubmitInfo values;
};

/* One of the two that are compared. Each has buffers and semaphores of its own, made alike. */
struct vkb_side {
    VkSemaphore acquire, release; /* signalled by Vulkan or the host, and by CUDA */
    uint64_t drawn, computed;     /* the values of their last signals */
    struct vkb_object buffers[VKB_RESOURCES];
    CUdeviceptr pointers[VKB_RESOURCES];
    uint64_t waits_for[VKB_RESOURCES]; /* ping-pong by raw calls: acquire's value of the last use */
    unsigned written[VKB_RESOURCES];   /* what CUDA filled it with last */
    VkCommandBuffer commands[VKB_FRAMES];
    uint64_t frames;           /* enqueued since the row began */
    uint64_t done[VKB_FRAMES]; /* the value at which a frame is done, by its number */
    struct vkb_submit submits[VKB_MOST_SUBMITS]; /* not handed to Vulkan yet */
    VkSubmitInfo infos[VKB_MOST_SUBMITS];
    unsigned submit_count;

    /* raw: the semaphores as CUDA has them, NULL where the host waits and signals */
    CUexternalSemaphore cuda_acquire, cuda_release;
    CUexternalMemory imports[VKB_RESOURCES];

    /* grinterop */
    gr_semaphore *gr_acquire, *gr_release;
    gr_resource *resources[VKB_RESOURCES];
    gr_buffer *mapped[VKB_RESOURCES];
};

struct vkb {
    const gr_cuda_api *cuda;
    struct bench_device on;
    size_t usual_bytes,
        full_bytes; /* of each buffer: in most rows, and in those with large fills */
    size_t bytes;   /* of each buffer now */
    size_t fill;    /* how many of them CUDA fills, from the first on; Vulkan copies a half */

    gr_vk_headless *headless;
    const gr_vk_headless_info *handles;
    struct vkb_functions vk;
    gr_vk_device *wrap;
    bool through_host;                          /* semaphores cannot be exported */
    PFN_cuStreamBatchMemOp_v11070 batch_mem_op; /* for raw's barriers; NULL: none */
    VkQueue queues[VKB_QUEUES];
    uint32_t families[VKB_QUEUES];
    VkCommandPool pool; /* of the row's queue */
    VkPhysicalDeviceMemoryProperties memory_types;

    struct vkb_object spare_buffer, spare_image; /* for import and destroy */
    struct vkb_side sides[VKB_SIDES];
    struct vkb_point *points; /* a ring; only the raw side's host functions use it */
    size_t point;
};

/* How long and how often. */
struct vkb_effort {
    unsigned blocks;      /* timed, drained blocks of each side, at most */
    double room_seconds;  /* after which a row of drained blocks ends early */
    unsigned full_blocks; /* timed blocks of each side with the queues full */
    double block_ms;      /* how long such a block lasts, roughly */
    unsigned in_flight;   /* frames that the thread is ahead of the GPU */
};

enum vkb_part {
    VKB_IMPORT,
    VKB_ROOM_RELEASE,
    VKB_ROOM_BOTH,
    VKB_SMALL_BOTH,
    VKB_FULL_BOTH,
    VKB_PING_PONG, /* and on the other queues: one part for each */
    VKB_PARTS = VKB_PING_PONG + VKB_QUEUES
};

struct vkb_kind;

/* Puts one frame into the queues; false after an error, which it has printed. */
typedef bool (*vkb_frame_fn)(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind);

/* One row of the table, as it is to be measured. */
struct vkb_kind {
    const char *key; /* the row's name for machines */
    const char *label;
    enum vkb_part part;
    unsigned resources;        /* in a frame; for ping-pong how many alternate */
    unsigned points;           /* waits, and signals, of a frame: 1, or one for each resource */
    unsigned room_frames;      /* in a drained block; 0: the queues are full */
    bool paced_by_release;     /* a frame is done when CUDA's signal says so, not Vulkan's */
    const vkb_frame_fn *frame; /* of each side; NULL: that side has no such row */
    unsigned submits;          /* ping-pong: submits that one call of vkQueueSubmit takes */
    unsigned copies;           /* ping-pong: resources that one submit copies */
};

/* One row as measured; times are microseconds a frame, NaN where there is no such number. */
struct vkb_row {
    const struct vkb_kind *kind;
    unsigned blocks, frames; /* timed blocks of each side, frames in one */
    struct bench_spread wall[VKB_SIDES];
    double thread_cpu[VKB_SIDES];
    struct bench_spread ratio; /* of the two neighbouring blocks: grinterop / raw */
    double halves;             /* room: cost of a block's second half / first half */
    double waiting[VKB_SIDES]; /* full: frames not done when a block had ended, median */
    unsigned in_flight;        /* full: the most that may wait */
    size_t fill;               /* bytes that CUDA fills of each resource */
};

struct vkb_table {
    struct vkb_row rows[VKB_ROWS];
    size_t count;
};

/* objects.c */
bool vkb_open(struct vkb *bench);
bool vkb_load_functions(struct vkb *bench);
void vkb_close(struct vkb *bench);
bool vkb_drain(struct vkb *bench);
bool vkb_vulkan_failed(VkResult result, const char *call);
bool vkb_make_buffer(struct vkb *bench, struct vkb_object *object);
bool vkb_make_image(struct vkb *bench, struct vkb_object *object);
void vkb_end_object(struct vkb *bench, struct vkb_object *object);

/* sides.c */
bool vkb_open_raw(struct vkb *bench, struct vkb_side *side);
bool vkb_open_grinterop(struct vkb *bench, struct vkb_side *side);
void vkb_close_raw(struct vkb *bench, struct vkb_side *side);
void vkb_close_sides(struct vkb *bench);
bool vkb_resize(struct vkb *bench, size_t bytes);
void vkb_try_barriers(
    struct vkb *bench); /* leaves them out where the driver refuses, as grinterop does */
bool vkb_raw_wait(struct vkb *bench, const struct vkb_side *side, uint64_t value);
bool vkb_raw_signal(struct vkb *bench, const struct vkb_side *side, uint64_t value);
bool vkb_fill(struct vkb *bench, struct vkb_side *side, unsigned resource);

/* import.c: the sizes of what is imported */
enum { VKB_IMAGE_WIDTH = 256, VKB_IMAGE_HEIGHT = 256 };
bool vkb_import_memory(struct vkb *bench, const struct vkb_object *object, bool dedicated,
                       CUexternalMemory *memory);
gr_resource *vkb_import_grinterop(struct vkb *bench, const struct vkb_object *object);
bool vkb_import_used_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_import_used_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_import_buffer_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_import_buffer_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_import_image_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_import_image_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);

/* map.c */
bool vkb_map_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_map_singly_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_map_batch_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);

/* ping_pong.c */
enum vkb_queue vkb_queue_of(const struct vkb_kind *kind);
void vkb_barrier_raw(struct vkb *bench, VkCommandBuffer commands, VkBuffer buffer, uint32_t family,
                     bool to_cuda);
bool vkb_record(struct vkb *bench, const struct vkb_kind *kind);
bool vkb_check_work(struct vkb *bench, const struct vkb_kind *kind);
bool vkb_ping_pong_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_ping_pong_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_cuda_alone(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_batch_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_batch_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_queue_alone(struct vkb *, struct vkb_side *, const struct vkb_kind *);

/* rows.c */
extern const struct vkb_kind vkb_kinds[];
extern const size_t vkb_kind_count;
extern const char *const vkb_part_titles[VKB_PARTS];
bool vkb_can_run(const struct vkb *bench, const struct vkb_kind *kind);
bool vkb_has_fills(const struct vkb_kind *kind);

/* measure.c */
bool vkb_measure(struct vkb *bench, const struct vkb_kind *kind, const struct vkb_effort *effort,
                 struct vkb_row *row);

/* probe.c */
bool vkb_probe(struct vkb *bench, const char *only, bool quick);

/* report.c */
bool vkb_row_was_full(const struct vkb_row *row, unsigned side);
void vkb_print(const struct vkb_table *table);

/* vulkan_json.c */
void vkb_write_json(struct json *json, const struct vkb_effort *effort, const struct vkb *bench,
                    const struct vkb_table *table);

#endif
