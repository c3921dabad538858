/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that all files of bench_frames share: the devices, the rows of the table, and the
 * results.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/ring.h>
#include <grinterop/vk.h>

#include "bench/frames/glsl.h"
#include "bench/bench.h"
#include "tests/support/own_egl.h"

enum {
    FRAMES_TARGET = 512, /* pixels per side of the render target */
    FRAMES_PIXELS = FRAMES_TARGET * FRAMES_TARGET * 4,
    /* the number of buffers that unsynchronised rows use in turn, too many for the caches */
    FRAMES_ALONE = 16,
    FRAMES_MOST_GROUP = 64,
    FRAMES_MOST_SLOTS = 256,
    FRAMES_MESHES = 3,
    FRAMES_MOST_COPIES = 6,  /* the maximum number of ring slots with the copy transport */
    FRAMES_PHASES = 61,      /* the number of different meshes, and of different pictures */
    FRAMES_SOFTWARE_GL = -1, /* the device number that means OpenGL on the CPU */
    FRAMES_ROWS = 56
};

struct frames_vulkan;

/* For rows in which OpenGL draws a picture of mesh x mesh pixels and CUDA filters it. */
struct frames_picture {
    unsigned framebuffer, colour, program, vertex_array;
    int phase;                 /* the location of the uniform */
    unsigned alone;            /* an OpenGL buffer that is not shared */
    CUdeviceptr filtered;      /* the result of the last frame */
    float *reference, *result; /* the expected and the actual result, in host memory */
};

/* One OpenGL context, one stream, a render target, and buffers that are not shared. */
struct frames {
    const gr_cuda_api *cuda;
    struct bench_device on; /* the device on which CUDA computes */
    int gl_ordinal; /* the CUDA device on which OpenGL and Vulkan draw, or FRAMES_SOFTWARE_GL */
    CUmodule module;
    CUfunction kernel, filter;
    gr_egl *egl; /* the OpenGL context is either `egl` or `software_gl` */
    struct own_egl software_gl;
    bool has_target;
    unsigned framebuffer, colour, program, vertex_array;
    /* NULL if Vulkan is not available; no_vulkan then has the reason */
    struct frames_vulkan *vulkan;
    char no_vulkan[400];
    struct frames_picture picture;
    gr_vk_headless *timeline_vulkan; /* created on first use by hand_timeline.c */

    int mesh;     /* the points per side of the mesh */
    size_t bytes; /* the bytes of the vertices of a mesh */
    /* OpenGL buffers that are not shared; each has the mesh of the last frame of a block */
    unsigned plain[FRAMES_ALONE];
    CUdeviceptr scratch[FRAMES_ALONE]; /* CUDA memory that is not shared */
    unsigned plain_turn;               /* the index of the next buffer in `plain` to draw */
    /* the frames left in the block; selects the mesh, so all blocks end with the same mesh */
    unsigned frames_left;
    unsigned char *reference, *pixels; /* the expected and the actual pixels of the last frame */
    unsigned *queries;                 /* if not NULL, an OpenGL timer for each frame */
    unsigned drawn;                    /* the frames drawn since `queries` was set */
    CUevent *ended;                    /* if not NULL, an event for the end of each kernel */
    unsigned launched;                 /* the kernels launched since `ended` was set */
};

struct frames_kind;
struct frames_hand;

/* The state of a row during its measurement. */
struct frames_run {
    const struct frames_kind *kind;
    gr_resource *resource;     /* for rows with one resource */
    CUgraphicsResource handle; /* for raw interop */
    unsigned name;             /* the OpenGL buffer of the resource */
    gr_ring *ring;
    unsigned names[FRAMES_MOST_COPIES]; /* the OpenGL buffers of the ring, if OpenGL owns them */
    VkCommandBuffer *commands;          /* the command buffers, one per slot */
    struct frames_hand *hand;           /* for rows by hand */
    void *host;                         /* the destination of copies */
    const gr_slot *slots[FRAMES_MOST_GROUP];
    const gr_slot *read[FRAMES_MOST_SLOTS]; /* read, and not given back yet */
    unsigned read_count;
};

typedef bool (*frames_fn)(struct frames *, struct frames_run *);

/* The description of one row of the table. */
struct frames_kind {
    struct bench_row row;
    unsigned slots, group; /* with in_flight, its staging buffers are the slots */
    /* frame: passes `group` frames; close: is called even if open failed */
    frames_fn open, frame, close;
    bool unchecked;  /* whether the picture does not come from CUDA, so it can't be checked */
    bool reads;      /* whether OpenGL draws a picture and CUDA filters it */
    bool vulkan;     /* whether Vulkan draws the mesh */
    bool across;     /* whether the row needs CUDA and OpenGL on different devices */
    unsigned copied; /* the transport by which Vulkan resources are copied; 0: not copied */
    bool image;      /* whether the slots of a Vulkan ring are images */
};

/* How long and how often to measure. Blocks of raw interop last half of block_seconds. */
struct frames_effort {
    unsigned rounds, frames, most_frames;
    double block_seconds, most_seconds; /* the minimum and the maximum time of a block */
    double latency_hz;                  /* the frames per second of latency.c; 0: not measured */
};

/* Rows for the option table: the device of all APIs, and the device of CUDA. */
#define FRAMES_OPTIONS_DEVICE(frames)                                                              \
    {"device", 0, "N", "the CUDA device that computes and draws (default 0)",                      \
     .own = {frames_parse_device, frames}},                                                        \
    {                                                                                              \
        "cuda-device", 0, "N", "the CUDA device that computes", .whole = {                         \
            &(frames)->on.ordinal,                                                                 \
            0,                                                                                     \
            1000                                                                                   \
        }                                                                                          \
    }

/* device.c: errors go to frames_set_error(). The drain function waits for all APIs. */
bool frames_open(struct frames *frames);
void frames_close(struct frames *frames);
/*
 * Adds facts about OpenGL, Vulkan, and the transport of shared buffers, or why they are not
 * available.
 */
void frames_add_facts(const struct frames *frames, struct bench_machine *machine);
bool frames_is_across(const struct frames *frames); /* whether CUDA and OpenGL use two GPUs */
/* prints the error if not `good`; returns `good` */
bool frames_print_error(bool good);
bool frames_set_mesh(struct frames *frames, int mesh);
bool frames_parse_device(const char *text, void *frames); /* parses the device of all APIs */
bool frames_drain(struct frames *frames);
bool frames_cuda_ok(const struct frames *frames, CUresult result, const char *call);
bool frames_grinterop_failed(const char *call);
bool frames_gl_ok(const char *doing);
float frames_next_phase(struct frames *frames);
bool frames_launch(struct frames *frames, CUdeviceptr vertices); /* computes the next frame */
void frames_draw(struct frames *frames, unsigned name);
int frames_count_wrong(struct frames *frames, unsigned tolerance);
void frames_read(struct frames *frames);
const char *frames_last_error(void); /* the text of the last error */
void frames_set_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The shaders of the points and the picture, for OpenGL and Vulkan. */
extern const struct glsl mesh_vert, mesh_frag, picture_vert, picture_frag;

/* rows.c: maps the resource, writes one mesh, releases it. */
bool frames_write_mapped(struct frames *frames, gr_resource *resource);

/*
 * Pass a group of frames through the ring: CUDA writes the group, the renderer acquires it and
 * gives it back.
 */
bool frames_ring_write(struct frames *frames, struct frames_run *run);
bool frames_ring_give_back(struct frames_run *run);

extern const struct frames_kind frames_kinds[];
extern const struct frames_kind *const frames_base;      /* raw interop in order, CUDA writes */
extern const struct frames_kind *const frames_read_base; /* raw interop in order, CUDA reads */

/* copy_rows.c */
bool frames_copy_open(struct frames *, struct frames_run *);
bool frames_copy_open_created(struct frames *, struct frames_run *);
bool frames_copy_open_ring(struct frames *, struct frames_run *);
bool frames_copy_open_created_ring(struct frames *, struct frames_run *);
bool frames_copy_ring(struct frames *, struct frames_run *);
bool frames_copy_read_ring(struct frames *, struct frames_run *);
bool frames_transfer_open(struct frames *, struct frames_run *);
bool frames_transfer(struct frames *, struct frames_run *);
bool frames_transfer_close(struct frames *, struct frames_run *);
bool frames_copy_close_ring(struct frames *, struct frames_run *);

/* image_rows.c: writes the next frame into the array of a mapped image */
bool frames_write_array(struct frames *frames, gr_buffer *buffer);

/* image_rows.c: textures by interop, copy and peer */
bool frames_image_open(struct frames *, struct frames_run *);
bool frames_image_open_copy(struct frames *, struct frames_run *);
bool frames_image_open_peer(struct frames *, struct frames_run *);
bool frames_image_frame(struct frames *, struct frames_run *);
bool frames_image_close(struct frames *, struct frames_run *);

/* vulkan_rows.c */
void frames_vulkan_open(struct frames *frames);
void frames_vulkan_close(struct frames *frames);
bool frames_vulkan_drain(const struct frames *frames);
void frames_vulkan_describe(const struct frames *frames, char *text, size_t size);
bool frames_vulkan_read(struct frames *frames);
bool frames_vulkan_open_ring(struct frames *, struct frames_run *);
bool frames_vulkan_frame(struct frames *, struct frames_run *);
bool frames_vulkan_draw_only(struct frames *, struct frames_run *);
bool frames_vulkan_close_ring(struct frames *, struct frames_run *);

/* vulkan_copy_rows.c */
bool frames_transfer_queue_open_ring(struct frames *, struct frames_run *);
bool frames_transfer_queue_frame(struct frames *, struct frames_run *);

/* vulkan_image_rows.c */
bool frames_vulkan_image_open(struct frames *, struct frames_run *);
bool frames_vulkan_image_close(struct frames *, struct frames_run *);

/* vulkan_read_rows.c */
bool frames_vulkan_read_open(struct frames *, struct frames_run *);
bool frames_vulkan_read_alone(struct frames *, struct frames_run *);
bool frames_vulkan_read_frame(struct frames *, struct frames_run *);
bool frames_vulkan_read_close(struct frames *, struct frames_run *);

/* picture.c: the picture that OpenGL draws for CUDA to read */
bool frames_picture_open(struct frames *frames);
void frames_picture_close(struct frames *frames);
bool frames_picture_set_mesh(struct frames *frames);
void frames_picture_draw(struct frames *frames, unsigned name); /* draws the next frame */
bool frames_picture_filter(struct frames *frames, CUdeviceptr pixels);
bool frames_picture_wrong(struct frames *frames, int *wrong); /* counts the pixels that differ */

/* read_rows.c: passes the picture to CUDA */
bool frames_read_alone(struct frames *, struct frames_run *);
bool frames_read_open_raw(struct frames *, struct frames_run *);
bool frames_read_raw(struct frames *, struct frames_run *);
bool frames_read_open(struct frames *, struct frames_run *);
bool frames_read_open_peer(struct frames *, struct frames_run *);
bool frames_read_frame(struct frames *, struct frames_run *);
bool frames_read_open_ring(struct frames *, struct frames_run *);
bool frames_read_ring(struct frames *, struct frames_run *);
/* draws into the next ring slot */
bool frames_read_draw_slots(struct frames *, struct frames_run *);
/* reads the slot and gives it back */
bool frames_read_slots(struct frames *, struct frames_run *);

/* rows.c: for both directions */
bool frames_make_buffer(struct frames *frames, struct frames_run *run);
bool frames_open_raw(struct frames *frames, struct frames_run *run, unsigned flags);
bool frames_open_peer(struct frames *frames, struct frames_run *run, unsigned flags);
bool frames_map_raw(struct frames *frames, const struct frames_run *run, CUdeviceptr *pointer);
bool frames_unmap_raw(struct frames *frames, struct frames_run *run);
bool frames_open_ring(struct frames *frames, struct frames_run *run, gr_side producer);

/* by_hand.c: the shared transport by raw calls, complete or in parts */
bool frames_hand_open(struct frames *, struct frames_run *);
bool frames_hand_frame(struct frames *, struct frames_run *);
bool frames_hand_read_frame(struct frames *, struct frames_run *);
bool frames_hand_close(struct frames *, struct frames_run *);

/*
 * latency.c: adds the latencies of the frames of a row in which OpenGL draws. False after an error,
 * which has been set.
 */
bool frames_latency(struct frames *frames, struct frames_run *run, double hz,
                    struct bench_result *result);

/*
 * measure.c: measures a row; without Vulkan, for example, the result has a reason. The other
 * functions open and close the rows that it is compared with.
 */
bool frames_measure(const struct bench_row *row, size_t mesh);
bool frames_open_base(void);
bool frames_close_base(void);

/* What bench_frames measures, and how. */
struct frames_bench {
    struct frames f;
    struct frames_effort effort;
    size_t meshes;
    int mesh[FRAMES_MESHES];
};
extern struct frames_bench frames_bench;

/* The text of the size of the mesh, for the results. */
const char *frames_size(const struct frames *frames, char text[48]);

#endif
