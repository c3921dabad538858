/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What all files of bench_frames share: the devices and the objects that every row uses, and the
 * rows of the tables.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <grinterop/gl.h>
#include <grinterop/ring.h>

#include "bench/bench_vk.h"
#include "bench/frames/glsl.h"

enum {
    FRAMES_TARGET = 512, /* pixels per side of the render target */
    FRAMES_PIXELS = FRAMES_TARGET * FRAMES_TARGET * 4,
    /* the number of buffers that unsynchronised rows use in turn, too many for the caches */
    FRAMES_ALONE = 16,
    FRAMES_MOST_GROUP = 64,
    FRAMES_MOST_SLOTS = 256,
    FRAMES_MESHES = 3,
    FRAMES_PHASES = 61,      /* the number of different meshes, and of different pictures */
    FRAMES_SOFTWARE_GL = -1, /* the device number that means OpenGL on the CPU, without Vulkan */
};

/* For rows in which OpenGL draws a picture of mesh x mesh pixels and CUDA filters it. */
struct frames_picture {
    unsigned framebuffer, colour, program, vertex_array;
    int phase;                  /* the location of the uniform */
    unsigned alone;             /* an OpenGL buffer that is not shared */
    CUdeviceptr filtered;       /* the result of the last frame */
    float *reference, *cleared; /* the expected results, in host memory */
    float *result;              /* the actual result */
};

/* One OpenGL context, one stream, a render target, and buffers that are not shared. */
extern struct frames_scene {
    struct bench_device on; /* the device on which CUDA computes */
    int gl_ordinal; /* the CUDA device on which OpenGL and Vulkan draw, or FRAMES_SOFTWARE_GL */
    CUfunction kernel, filter;
    unsigned framebuffer, program, vertex_array;
    char no_vulkan[400]; /* why Vulkan is not available; "" if it is */
    struct frames_picture picture;

    double meshes[FRAMES_MESHES]; /* the meshes to measure */
    size_t mesh_count;
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
} scene;

struct frames_kind;
struct frames_hand;

/* The state of a row during its measurement. */
struct frames_run {
    const struct frames_kind *kind;
    gr_resource *resource;     /* for rows with one resource */
    CUgraphicsResource handle; /* for raw interop */
    unsigned name; /* the OpenGL buffer of raw interop, or that a texture is copied to */
    unsigned texture;
    gr_ring *ring;
    VkCommandBuffer *commands; /* the command buffers, one or more per slot */
    struct frames_hand *hand;  /* for rows by hand */
    void *host;                /* the destination of copies */
    const gr_slot *slots[FRAMES_MOST_GROUP];
    const gr_slot *read[FRAMES_MOST_SLOTS]; /* read, and not given back yet */
    unsigned read_count;
};

typedef void (*frames_fn)(struct frames_run *run);

/* How the halves of a frame pass it on: CUDA computes it, and graphics draws it, or NULL. */
struct frames_way {
    frames_fn open, cuda, graphics;
    /* whether the half that writes is frames ahead, since a copy blocks the thread */
    bool ahead;
};

/* The description of one row. */
struct frames_kind {
    struct bench_row row;
    unsigned slots, group; /* with in_flight, its staging buffers are the slots */
    const struct frames_way *way;
    unsigned transport; /* the transport of the resources; 0: not chosen */
    bool created;       /* whether grinterop creates the OpenGL buffers */
    bool unchecked;     /* whether the picture does not come from CUDA, so it can't be checked */
    bool reads;         /* whether graphics draws a picture and CUDA filters it */
    bool clears;        /* whether OpenGL clears that picture instead, without a shader */
    bool vulkan;        /* whether Vulkan draws the mesh */
    bool across;        /* whether the row needs CUDA and OpenGL on different devices */
};

#define FRAMES_ROW(part, key, label, most, of, ...)                                                \
    {                                                                                              \
        .row = {key, label, part, frames_measure}, .slots = most, .group = of, .way = __VA_ARGS__  \
    }

/* In the order of the report. */
extern const struct frames_kind frames_draw_rows[], frames_hand_rows[], frames_vulkan_rows[],
    frames_read_rows[];
extern const struct frames_way frames_raw; /* raw interop in order */

/* Rows for the option table: the device of all APIs, that of CUDA, and those that draw; meshes. */
/* clang-format off */
#define FRAMES_OPTIONS_DEVICE                                                                      \
    {"device", 0, "N", "the CUDA device that computes and draws (default 0)",                      \
     .own = {frames_parse_device, NULL}},                                                          \
    {"cuda-device", 0, "N", "the CUDA device that computes",                                       \
     .whole = {&scene.on.ordinal, 0, 1000}}
/* clang-format on */

/* options.c: for the option tables */
bool frames_parse_device(const char *text, void *into);
bool frames_parse_gl_device(const char *text, void *into);
bool frames_parse_meshes(const char *text, void *into);

/* device.c */
void frames_open(void);
void frames_add_facts(struct bench_machine *machine);
bool frames_is_across(void);            /* whether CUDA and OpenGL use two GPUs */
void frames_begin(void);                /* the mesh of the size */
const char *frames_size(char text[48]); /* the text of the size of the mesh */
void frames_drain(void);                /* waits for all APIs */
float frames_next_phase(void);
void frames_launch(CUdeviceptr vertices); /* computes the next frame */
void frames_draw(unsigned name);
/* The halves of the next frame, in the direction of the row. */
void frames_compute(const struct frames_run *run, CUdeviceptr memory);
void frames_paint(const struct frames_run *run, unsigned name);
void frames_read(void);
int frames_count_wrong(unsigned tolerance);

/* picture.c: the picture that OpenGL draws for CUDA to read */
void frames_picture_open(void);
void frames_picture_set_mesh(void);
void frames_picture_draw(unsigned name); /* draws the next frame */
void frames_picture_filter(CUdeviceptr pixels);
void frames_picture_clear(unsigned name);
int frames_picture_wrong(bool is_cleared); /* the number of pixels that differ */

/* draw_rows.c: the steps of CUDA, which other graphics share */
void frames_cuda_ring(struct frames_run *run);
/* Acquire the next slots of a ring, to write or to read, and pass them on. */
void frames_acquire(struct frames_run *run, CUstream stream, bool writes);
void frames_pass_on(struct frames_run *run, bool writes);

/* vulkan_rows.c: frames_vulkan_need() fails if there is no Vulkan. */
void frames_vulkan_open(void *none);
void frames_vulkan_need(void);
void frames_vulkan_drain(void);
void frames_vulkan_read(void);
const char *frames_vulkan_describe(void);

/* The objects used to draw a frame. */
struct frames_vulkan_draw {
    VkRect2D area;
    struct bench_vk_object image;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipeline pipeline;
};

/* vulkan_draw.c */
void frames_vulkan_draw_init(struct frames_vulkan_draw *draw);
void frames_vulkan_draw_points(const struct frames_vulkan_draw *draw, VkCommandBuffer commands,
                               VkBuffer vertices);

/* latency.c: adds the latencies of the frames of a row in which OpenGL draws. */
void frames_latency(struct frames_run *run, double hz, struct bench_result *result);

/*
 * measure.c: measures a row; after an error, as without Vulkan, the result has the reason. The
 * other function opens the rows that it is compared with.
 */
void frames_measure(const void *row);
void frames_open_base(void);
void frames_step(struct frames_run *run); /* passes `group` frames */

/* How long and how often to measure. Blocks of raw interop last half of block_seconds. */
extern struct frames_effort {
    unsigned rounds, frames, most_frames;
    double block_seconds, most_seconds; /* the minimum and the maximum time of a block */
    double latency_hz;                  /* the frames per second of latency.c; 0: not measured */
} frames_effort;

#endif
