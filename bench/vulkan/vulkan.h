/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that all files of bench_vulkan share: Vulkan and CUDA objects, the two sides that
 * are compared, and the rows of the table.
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
    VKB_BYTES = 65536, /* the size of a buffer, except of staged rows */
    VKB_SIDES = BENCH_SUBJECTS,
    VKB_MOST_IN_FLIGHT = 128,
    /* Twice the frames in flight, so that an entry that is reused belongs to a finished frame. */
    VKB_FRAMES = 2 * VKB_MOST_IN_FLIGHT,
    VKB_POINTS = 1 << 15,
    VKB_MOST_SUBMITS = 16,
    VKB_HOST = 1 /* as in_flight */
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
    X(vkCmdCopyImageToBuffer)                                                                      \
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

/* A buffer or an image with its own exported memory. */
struct vkb_object {
    VkBuffer buffer;
    VkImage image;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
};

/* A host wait or a host signal, in stream order. */
struct vkb_point {
    const struct vkb *bench;
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
    struct vkb_object buffers[VKB_RESOURCES];
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
    CUexternalMemory imports[VKB_RESOURCES];

    /* grinterop side */
    gr_semaphore *gr_acquire, *gr_release;
    gr_resource *resources[VKB_RESOURCES];
    gr_buffer *mapped[VKB_RESOURCES];
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

struct vkb {
    const gr_cuda_api *cuda;
    struct bench_device on;
    struct vkb_effort effort;
    size_t fill; /* the bytes that CUDA fills in a frame */

    gr_vk_headless *headless;
    const gr_vk_headless_info *handles;
    struct vkb_functions vk;
    gr_vk_device *wrap;
    /* whether the host waits and signals, since semaphores can't be exported */
    bool through_host;
    /* for the memory barriers of the raw side; NULL if the driver has none */
    PFN_cuStreamBatchMemOp_v11070 batch_mem_op;
    VkQueue queues[VKB_QUEUES];
    uint32_t families[VKB_QUEUES];
    VkCommandPool pool; /* the command pool for the queue of the row */
    VkPhysicalDeviceMemoryProperties memory_types;

    struct vkb_object spare_buffer, spare_image; /* the objects that are imported and destroyed */
    struct vkb_side sides[VKB_SIDES];
    /* the arguments of the host functions of the raw side, used in turn */
    struct vkb_point *points;
    size_t point;
};

enum vkb_part {
    VKB_IMPORT,
    VKB_ROOM_RELEASE,
    VKB_ROOM_BOTH,
    VKB_STAGED,
    VKB_PING_PONG /* round trips by the first queue; the following parts are the other queues */
};

struct vkb_kind;

/* Enqueues one frame. False after an error, which has been printed. */
typedef bool (*vkb_frame_fn)(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind);

/* The description of one row of the table. */
struct vkb_kind {
    struct bench_row row;
    enum vkb_part part;
    /* the resources per frame; in ping-pong: the resources used in turn */
    unsigned resources;
    unsigned points; /* the number of waits, and of signals, per frame: 1, or one per resource */
    unsigned room_frames; /* the frames in a drained block; 0 if the queues are full */
    /* whether a frame is complete at its CUDA signal instead of its Vulkan signal */
    bool paced_by_release;
    const vkb_frame_fn *frame; /* the function of each side; NULL if a side has none */
    unsigned submits;          /* ping-pong: submits per vkQueueSubmit call */
    unsigned copies;           /* ping-pong: resources copied per submit */
    size_t bytes;              /* staged: the size of the buffer or image */
    unsigned in_flight;        /* staged; VKB_HOST: copies through host memory, in order */
    bool image;
};

extern struct vkb vkb;

/* objects.c */
gr_vk_device *vkb_wrap(struct vkb *bench, unsigned transports); /* NULL: printed the error */
bool vkb_open(struct vkb *bench);
void vkb_close(struct vkb *bench);
bool vkb_drain(struct vkb *bench);
bool vkb_vulkan_failed(VkResult result, const char *call);
static inline bool vkb_ok(VkResult result, const char *call)
{
    return result == VK_SUCCESS || vkb_vulkan_failed(result, call);
}
bool vkb_make_buffer(struct vkb *bench, struct vkb_object *object);
bool vkb_make_image(struct vkb *bench, struct vkb_object *object);
void vkb_end_object(struct vkb *bench, struct vkb_object *object);

/* sides.c */
bool vkb_open_raw(struct vkb *bench, struct vkb_side *side);
bool vkb_open_grinterop(struct vkb *bench, struct vkb_side *side);
void vkb_close_raw(struct vkb *bench, struct vkb_side *side);
void vkb_close_sides(struct vkb *bench);
void vkb_try_barriers(struct vkb *bench); /* turns off memory barriers if the driver refuses them */
bool vkb_raw_wait(struct vkb *bench, const struct vkb_side *side, uint64_t value);
bool vkb_raw_signal(struct vkb *bench, const struct vkb_side *side, uint64_t value);
bool vkb_fill(struct vkb *bench, struct vkb_side *side, unsigned resource);

/* objects.c: the imported image */
enum { VKB_IMAGE_WIDTH = 256, VKB_IMAGE_HEIGHT = 256 };
extern const VkImageCreateInfo vkb_image_info;

/* import.c */
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
bool vkb_record(struct vkb *bench, const struct vkb_kind *kind);
bool vkb_check_work(struct vkb *bench, const struct vkb_kind *kind);
bool vkb_ping_pong_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_ping_pong_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_cuda_alone(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_batch_raw(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_batch_grinterop(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_queue_alone(struct vkb *, struct vkb_side *, const struct vkb_kind *);

/* staged.c */
bool vkb_open_staged(struct vkb *bench, const struct vkb_kind *kind);
bool vkb_record_staged(struct vkb *bench, const struct vkb_side *side, VkCommandBuffer commands);
bool vkb_staged(struct vkb *, struct vkb_side *, const struct vkb_kind *);
bool vkb_close_staged(struct vkb *bench);

/* rows.c */
extern const struct vkb_kind vkb_kinds[];

/* measure.c */
bool vkb_measure(const struct bench_row *row, size_t size);

#endif
