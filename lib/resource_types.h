/* SPDX-License-Identifier: Apache-2.0 */
/* The two objects of the library, as its own files see them. What they do is in resource/. */
#ifndef GR_LIB_RESOURCE_TYPES_H
#define GR_LIB_RESOURCE_TYPES_H

#include <grinterop/gr.h>

#include "lib/context.h"

struct gr_backend;
struct gr_objects;
struct gr_sync;

/* An image as its graphics API knows it; CUDA is asked for the rest at each map. */
struct gr_image {
    size_t width, height, depth; /* of level 0, in texels; height and depth at least 1 */
    unsigned levels, layers;
    bool is_3d, cube;
    bool layered; /* the array of a level has all of its layers */
    bool srgb;
    bool normalized; /* integers stand for fractions */
};

/* Linear memory on the device that stands for one level and layer of an image. */
struct gr_staging {
    CUdeviceptr ptr;
    size_t room;  /* bytes allocated */
    CUevent done; /* recorded at the release: the next map, on any stream, waits for it */
};

/*
 * A mapping's buffer. It lives inside its resource or in the resource's list of spare ones, so that
 * a loop of map and release allocates nothing.
 */
struct gr_buffer {
    gr_resource *resource;
    CUdeviceptr ptr; /* 0 once the mapping has ended */
    size_t size;
    CUstream stream;
    gr_buffer *next_spare;
    bool out;                   /* in the caller's hands */
    size_t pitch;               /* of the linear memory that stands for the image, or 0 */
    unsigned level, layer;      /* which of them it stands for */
    struct gr_objects *objects; /* surfaces and textures of this mapping, or NULL */
};

/* The common part of every resource; a backend's own struct begins with one. */
struct gr_resource {
    const struct gr_backend *backend;
    const char *transport; /* its name in describe texts: the backend's, or a kind's own */
    void *handle;          /* the driver's, of the kind that the backend has; NULL once closed */
    struct gr_context context;
    /* Its semaphores' points; NULL where the driver's map and unmap order the work themselves. */
    struct gr_sync *sync;
    unsigned flags;
    size_t size;        /* bytes */
    gr_buffer *mapped;  /* the live mapping, or NULL */
    gr_buffer *pending; /* the buffer that a map in progress is going to give out */
    gr_buffer *spare;   /* buffers that are not out */
    gr_buffer
        first; /* the buffer that suffices as long as each mapping is released before the next */
    size_t buffers_out;
    bool is_image;
    struct gr_image image;
    struct gr_staging staging;
    struct gr_objects *retired; /* of mappings that have ended, until the work with them is done */
    struct gr_objects *idle;    /* to be used again */
    CUevent order;  /* for a release on another stream than the map's; NULL until there is one */
    bool held;      /* the caller has not freed it */
    bool parked;    /* set aside until its OpenGL context is current */
    bool in_a_ring; /* a ring has the caller's hold: it is not put into another */
    bool visited;   /* scratch of a call over many resources: met already */
};

/* Whether the buffer is its resource's present mapping. */
static inline bool gr_buffer_is_live(const gr_buffer *buffer)
{
    return buffer->resource->mapped == buffer;
}

#endif
