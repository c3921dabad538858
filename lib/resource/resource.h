/* SPDX-License-Identifier: Apache-2.0 */
/* The two objects of the library, as its own files see them, and the life cycle between them. */
#ifndef GR_LIB_RESOURCE_RESOURCE_H
#define GR_LIB_RESOURCE_RESOURCE_H

#include <grinterop/gr.h>

#include "lib/context.h"

struct gr_backend;
struct gr_objects;

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

/*
 * Makes the common part ready: held by the caller, open, not mapped. The backend has set its size.
 */
void gr_resource_init(gr_resource *resource, const struct gr_backend *backend,
                      const struct gr_context *context, void *handle, unsigned flags);

/* A buffer that is not out, allocated only if the resource has none; NULL if there is no memory. */
gr_buffer *gr_buffer_take(gr_resource *resource);

/* Puts a buffer back; the resource's memory goes with the last one if nobody holds it. */
void gr_buffer_give(gr_buffer *buffer);

/* The mapping's buffer reports 0 from now on. */
void gr_buffer_end_mapping(gr_buffer *buffer);

/* Ends the registration of a resource that is not mapped, on a thread that may. */
gr_status gr_resource_unregister(gr_resource *resource, const char *call);

/* Closes and frees what nobody holds or maps any more; does nothing otherwise. */
void gr_resource_settle(gr_resource *resource);

/* Refuses NULL and a closed resource. */
gr_status gr_resource_check_open(const gr_resource *resource, const char *call);

/* One line about each resource, when debugging is asked for. */
void gr_resource_log_each(const char *call, gr_resource *const resources[], size_t n);

/* Makes `stream` wait for all that `earlier` has been given so far. The CUDA context is current. */
gr_status gr_stream_order_after(gr_resource *resource, CUstream earlier, CUstream stream);

/* Refuses NULL, and GR_STREAM_OF_MAP where there is no map yet. */
gr_status gr_stream_check(CUstream stream, bool of_map_allowed, const char *call);

#endif
