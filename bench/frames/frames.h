/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of bench_frames share: the devices, the rows of the table, and what was measured.
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

#include "examples/support/glsl.h"
#include "bench/bench.h"
#include "tests/support/own_egl.h"

enum {
    FRAMES_TARGET = 512, /* pixels each way */
    FRAMES_PIXELS = FRAMES_TARGET * FRAMES_TARGET * 4,
    FRAMES_ALONE = 16, /* buffers in turn where nobody waits, so that no cache has them */
    FRAMES_MOST_GROUP = 64,
    FRAMES_MOST_SLOTS = 256,
    FRAMES_MESHES = 3,
    FRAMES_MOST_COPIES = 6,  /* slots of a ring by copy */
    FRAMES_PHASES = 61,      /* meshes and pictures that differ */
    FRAMES_SOFTWARE_GL = -1, /* for a device's number: OpenGL is on the processor */
    FRAMES_ROWS = 96
};

struct frames_vulkan;

/* Of the rows in which OpenGL draws a picture of mesh by mesh pixels, which CUDA filters. */
struct frames_picture {
    unsigned framebuffer, colour, program, vertex_array;
    int phase;                 /* the shader's variable */
    unsigned alone;            /* a buffer of OpenGL's own */
    CUdeviceptr filtered;      /* the last frame's result */
    float *reference, *result; /* on the host: as it should be, and as it is */
};

/* One OpenGL context, one stream, a target, and what is drawn where nothing is shared. */
struct frames {
    const gr_cuda_api *cuda;
    struct bench_device on; /* where CUDA computes */
    int gl_ordinal; /* the CUDA device on which OpenGL and Vulkan draw; or FRAMES_SOFTWARE_GL */
    CUmodule module;
    CUfunction kernel, filter, stamp, answer;
    gr_egl *egl; /* one of these two is the OpenGL context */
    struct own_egl software_gl;
    bool has_target;
    unsigned framebuffer, colour, program, vertex_array;
    struct frames_vulkan *vulkan; /* NULL where there is none, for this reason: */
    char no_vulkan[400];
    struct frames_picture picture;
    gr_vk_headless *timeline_vulkan; /* hand_timeline.c's, once it was needed */

    int mesh;                          /* points along each side */
    size_t bytes;                      /* of a mesh's vertices */
    unsigned plain[FRAMES_ALONE];      /* OpenGL's alone; each holds the last frame's mesh */
    CUdeviceptr scratch[FRAMES_ALONE]; /* CUDA's alone */
    unsigned plain_turn;               /* which is drawn next */
    unsigned
        frames_left; /* in the block: says which mesh a frame has, the last one always the same */
    unsigned char *reference, *pixels; /* of the last frame: as it should be, and as it is */
    unsigned *queries;                 /* if not NULL, one of OpenGL's timers after each drawing */
    unsigned drawn;                    /* since there are queries */
    CUdeviceptr stamps;                /* if not 0, when each mesh's kernel begins and has ended */
    unsigned launched;                 /* since there are stamps */
};

struct frames_kind;
struct frames_hand;
struct frames_hand_copy;

/* A row while it is measured. */
struct frames_run {
    const struct frames_kind *kind;
    gr_resource *resource;     /* of rows with one resource */
    CUgraphicsResource handle; /* of raw interop */
    unsigned name;             /* of its buffer */
    gr_ring *ring;
    unsigned names[FRAMES_MOST_COPIES]; /* of its buffers, where they are OpenGL's own */
    VkCommandBuffer *commands;          /* of each slot */
    struct frames_hand *hand;           /* of rows by hand */
    struct frames_hand_copy *hand_copy; /* of copies by hand */
    void *host;                         /* memory to copy to */
    const gr_slot *slots[FRAMES_MOST_GROUP];
};

typedef bool (*frames_fn)(struct frames *, struct frames_run *);

enum frames_part {
    FRAMES_BOUND,
    FRAMES_IN_ORDER,
    FRAMES_IN_FLIGHT,
    FRAMES_HAND,
    FRAMES_VULKAN,
    FRAMES_READ,
    FRAMES_VULKAN_READ,
    FRAMES_WHY,
    FRAMES_WHY_COPY,
    FRAMES_PARTS
};

/* How by_hand.c hands frames over: every so many frames, 0: never. */
struct frames_hand_kind {
    bool kernel, draw;
    unsigned cuda_waits, cuda_signals, gl_waits, gl_signals, flushes;
    bool barriers;  /* OpenGL's waits and signals name the buffer */
    bool satisfied; /* waits are for what was signalled long ago */
};

/* When OpenGL is told to begin with the pieces of a copy. */
enum frames_flush { FRAMES_FLUSH_NEVER, FRAMES_FLUSH_WAITING, FRAMES_FLUSH_EACH };

/* How hand_copy.c copies frames; the row's slots are the buffers that it goes through in turn. */
struct frames_hand_copy_kind {
    unsigned pieces, ahead; /* ahead: frames that CUDA has written when one is drawn; 0: that one */
    bool by_processor;      /* not by memory that OpenGL keeps mapped */
    enum frames_flush flush;
    bool until_drawn; /* a buffer is written again when its frame was drawn, not just copied */
    bool waits_early; /* for that the thread waits before the kernel, not before CUDA's copy */
};

/* One row of the table, as it is to be measured. */
struct frames_kind {
    const char *key; /* the row's name for machines */
    const char *label;
    enum frames_part part;
    unsigned slots, group;
    frames_fn open, frame,
        close;      /* frame: `group` frames at once; close: also after a failed open */
    bool unchecked; /* its picture is not CUDA's */
    bool reads;     /* OpenGL draws a picture, CUDA filters it */
    bool across;    /* only where CUDA is on another device than OpenGL */
    struct frames_hand_kind hand;
    struct frames_hand_copy_kind copy;
};

/* How long and how often. */
struct frames_effort {
    unsigned rounds, frames, most_frames;
    double block_seconds, most_seconds; /* what a block takes, at least and at most; half of the
                                           first: one of raw interop */
};

/* One row as measured for one mesh; times are microseconds a frame. */
struct frames_result {
    bool measured;
    char reason[500];                /* why not, or "" */
    unsigned frames;                 /* in a block; 0: unknown */
    struct bench_spread wall, times; /* times: in order / this, of neighbouring blocks */
    double cpu;                      /* of the thread */
    double waiting;                  /* frames not done when the thread had enqueued the last */
    bool full;                       /* the queues set the pace, not the thread */
    int wrong;                       /* pixels that differ, at most; -1: not looked at */
    char gaps[160];                  /* how the drawing is spread over time, where asked for */
};

struct frames_table {
    size_t rows, meshes;
    int mesh[FRAMES_MESHES];
    const struct frames_kind *kinds[FRAMES_ROWS];
    struct frames_result results[FRAMES_ROWS][FRAMES_MESHES];
};

/* device.c: errors are printed; drain waits for all APIs. */
bool frames_open(struct frames *frames);
void frames_close(struct frames *frames);
/* OpenGL, Vulkan, and by which transport a buffer of the ring is shared, or why none is. */
void frames_add_facts(const struct frames *frames, struct bench_machine *machine);
bool frames_set_mesh(struct frames *frames, int mesh);
bool frames_drain(struct frames *frames);
bool frames_cuda_ok(const struct frames *frames, CUresult result, const char *call);
bool frames_grinterop_failed(const char *call);
bool frames_gl_ok(const char *doing);
float frames_next_phase(struct frames *frames);
bool frames_stamp(struct frames *frames, CUdeviceptr at); /* the time on CUDA's device, in ns */
bool frames_launch(struct frames *frames, CUdeviceptr vertices); /* the next frame's mesh */
void frames_draw(struct frames *frames, unsigned name);
int frames_wrong_pixels(struct frames *frames, unsigned tolerance);
void frames_read(struct frames *frames);
const char *frames_last_words(void); /* what the functions that failed said last */
void frames_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What draws the points and the picture, for OpenGL and for Vulkan. */
extern const struct glsl mesh_vert, mesh_frag, picture_vert, picture_frag;

/* The kernel as the CUDA driver in use takes it. */
const unsigned char *frames_kernel(size_t *size);

/* rows.c: one mesh, written by CUDA from map to release. */
bool frames_write_mapped(struct frames *frames, gr_resource *resource);

/*
 * A group of frames that goes through the ring: written by CUDA and taken for drawing; then back.
 */
bool frames_ring_write(struct frames *frames, struct frames_run *run);
bool frames_ring_give_back(struct frames_run *run);

extern const char *const frames_part_titles[FRAMES_PARTS];
extern const struct frames_kind frames_kinds[];
extern const size_t frames_kind_count;
extern const struct frames_kind *const frames_base;      /* raw interop in order */
extern const struct frames_kind *const frames_read_base; /* where CUDA reads */
extern const struct frames_kind frames_core;             /* measured by Python */

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

/* vulkan_read_rows.c */
bool frames_vulkan_read_open(struct frames *, struct frames_run *);
bool frames_vulkan_read_alone(struct frames *, struct frames_run *);
bool frames_vulkan_read_frame(struct frames *, struct frames_run *);
bool frames_vulkan_read_close(struct frames *, struct frames_run *);

/* picture.c: what OpenGL draws for CUDA to read */
bool frames_picture_open(struct frames *frames);
void frames_picture_close(struct frames *frames);
bool frames_picture_set_mesh(struct frames *frames);
void frames_picture_draw(struct frames *frames,
                         unsigned name); /* the next frame's, into a buffer */
bool frames_picture_filter(struct frames *frames, CUdeviceptr pixels);
bool frames_picture_wrong(struct frames *frames, int *wrong); /* pixels that differ */

/* read_rows.c: how it gets to CUDA */
bool frames_read_alone(struct frames *, struct frames_run *);
bool frames_read_open_raw(struct frames *, struct frames_run *);
bool frames_read_raw(struct frames *, struct frames_run *);
bool frames_read_open(struct frames *, struct frames_run *);
bool frames_read_open_peer(struct frames *, struct frames_run *);
bool frames_read_frame(struct frames *, struct frames_run *);
bool frames_read_open_ring(struct frames *, struct frames_run *);
bool frames_read_ring(struct frames *, struct frames_run *);
bool frames_read_draw_slot(struct frames *, struct frames_run *); /* into the ring's next one */
bool frames_read_slot(struct frames *, struct frames_run *); /* the next of the ring, and back */

/* rows.c: what rows of both directions do */
bool frames_make_buffer(struct frames *frames, struct frames_run *run);
bool frames_open_raw(struct frames *frames, struct frames_run *run, unsigned flags);
bool frames_open_peer(struct frames *frames, struct frames_run *run, unsigned flags);
bool frames_map_raw(struct frames *frames, const struct frames_run *run, CUdeviceptr *pointer);
bool frames_unmap_raw(struct frames *frames, struct frames_run *run);
bool frames_open_ring(struct frames *frames, struct frames_run *run, gr_side producer);

/* by_hand.c: the shared transport by hand, whole and to learn what its parts cost */
bool frames_hand_open(struct frames *, struct frames_run *);
bool frames_hand_frame(struct frames *, struct frames_run *);
bool frames_hand_read_frame(struct frames *, struct frames_run *);
bool frames_hand_close(struct frames *, struct frames_run *);

/* hand_copy.c: the copy transport by hand, to learn the same */
bool frames_hand_copy_open(struct frames *, struct frames_run *);
bool frames_hand_copy_frame(struct frames *, struct frames_run *);
bool frames_hand_copy_close(struct frames *, struct frames_run *);

/* gaps.c: how the drawing of a row's frames is spread over time, as a sentence. */
bool frames_gaps(struct frames *frames, struct frames_run *run, char text[160]);

/* measure.c: `base` is what the row is compared with, or NULL */
void frames_measure(struct frames *frames, struct frames_run *base, const struct frames_kind *kind,
                    const struct frames_effort *effort, bool gaps, struct frames_result *result);

/* frames_python.c: fills in the row of cuda.core, and what ran it. */
#define FRAMES_PYTHON 300
bool frames_python(const char *python, const char *script, int ordinal,
                   const struct frames_effort *effort, struct frames_table *table,
                   char version[FRAMES_PYTHON]);

/* report.c */
enum frames_measure_of {
    FRAMES_IN_ORDERS, /* so many times the frames of raw interop in order, at least */
    FRAMES_BOUNDS,    /* so many times the bound's time, at most */
    FRAMES_LONGERS    /* so many times the longer of the drawing's and the transfer's, at most */
};
struct frames_goal {
    const char *key;
    int mesh;
    enum frames_measure_of of;
    double wanted;
};
const struct frames_goal *frames_goals(const struct frames *frames, size_t *count);
double frames_reached(const struct frames_table *table, const struct frames_goal *goal);
bool frames_is_reached(const struct frames_goal *goal, double reached);
bool frames_pictures_right(const struct frames_table *table);
bool frames_is_wrong(const struct frames_kind *kind, const struct frames_result *result);
void frames_print(const struct frames_table *table);
void frames_print_goals(const struct frames_table *table, const struct frames *frames);

/* frames_json.c, frames_chart.c */
void frames_write_json(struct json *json, const struct frames *frames, const char *python,
                       const struct frames_effort *effort, const struct frames_table *table);
bool frames_write_svg(const char *path, const struct bench_machine *machine,
                      const struct frames *frames, const struct frames_table *table);

#endif
