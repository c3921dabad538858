/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The structs of resources and buffers, for the library's own files. Their functions are in
 * resource/.
 */
#ifndef GR_LIB_RESOURCE_TYPES_H
#define GR_LIB_RESOURCE_TYPES_H

#include <cuda.h>
#include <grinterop/gr.h>
#include <grinterop/image.h>

#include "lib/context.h"
#include "lib/told.h"

struct gr_backend;
struct gr_objects;
struct gr_sync;
struct gr_user;

/* An image as its graphics API describes it. CUDA's view is queried at each map. */
struct gr_image {
    size_t width, height, depth; /* of level 0, in texels; height and depth are at least 1 */
    unsigned levels, layers;
    bool is_3d, cube;
    bool layered; /* the array of a level has all of its layers */
    bool srgb;
    bool normalized;       /* integers represent fractions */
    CUarray_format format; /* of one channel in CUDA */
    unsigned channels;     /* 0: known only after a map */
};

/* Linear device memory for one level and layer of an image. */
struct gr_staging {
    CUdeviceptr ptr;
    size_t room;  /* allocated bytes */
    CUevent done; /* recorded at the release: the next map waits for it, on any stream */
};

/*
 * A mapping. It lies in its resource or in the resource's list of spare buffers, so that maps and
 * releases do not allocate.
 */
struct gr_buffer {
    /* Used by every map and release: one cache line. */
    gr_resource *resource;
    CUdeviceptr ptr; /* 0 once the mapping has ended */
    size_t size;
    CUstream stream;
    gr_buffer *next;            /* in the list of deferred or spare buffers */
    struct gr_user *users;      /* users of the mapped bytes, */
    unsigned user_count;        /* and their number; atomic */
    bool out;                   /* the caller has it */
    bool later;                 /* deferred by gr_buffer_release_later() */
    bool kept;                  /* deferred until its users end: lib/resource/users.h */
    struct gr_objects *objects; /* surfaces and textures of this mapping, or NULL */

    size_t offset, part;   /* the mapped bytes of a buffer */
    size_t pitch;          /* of the linear memory for the image, or 0 */
    unsigned level, layer; /* of the image in linear memory */
    gr_buffer_info shown;  /* filled by gr_buffer_get_info() */
    gr_image_info info;    /* returned by gr_buffer_image_info() */
};

#define GR_BUFFERS_IN_TURN 4

/* The common part of every resource; the struct of a backend begins with it. */
struct gr_resource {
    /* Used by every map and release: two cache lines, up to the count of `told`. */
    const struct gr_backend *backend;
    void *handle; /* the driver's object, of the backend's kind; NULL once closed */
    struct gr_context context;
    /* The points of its semaphores; NULL if the driver's map and unmap order the work. */
    struct gr_sync *sync;
    gr_buffer *mapped;    /* the live mapping, or NULL */
    gr_buffer *set_aside; /* buffers freed by a thread that could not release them */
    size_t size;          /* bytes */
    gr_buffer *pending;   /* the buffer of a map in progress, else NULL */
    CUstream checked;     /* the stream last found to belong to the right context */
    CUstream released_on; /* the stream of the last release, or NULL */
    bool end_is_recorded; /* since that release */
    bool is_image;
    bool in_a_ring; /* in a ring, which alone may map it */
    bool ring_maps; /* during calls of the ring */
    bool visited;   /* scratch of calls over many resources */
    bool parked;    /* deferred until its OpenGL context is current */
    bool claimed;   /* a thread ends it: gr_resource_let_go() */
    /* The caller's, until gr_resource_free(), and the library's own. */
    unsigned holds;
    unsigned buffers_out;
    unsigned locked;          /* by gr_resource_lock(); not next to the fields that it guards */
    unsigned run;             /* scratch of a map: the number of resources in its run */
    unsigned turn;            /* index of the next buffer in `first` */
    struct gr_told_list told; /* streams of ended users, until the mapping ends */

    /*
     * Enough buffers if each mapping is released before the next. They are used in turn, so that a
     * second release is detected for some maps more.
     */
    gr_buffer first[GR_BUFFERS_IN_TURN];
    gr_buffer *spare; /* other buffers that are not in use */

    gr_transport transport_bit; /* of the backend, or of a kind */
    gr_graphics_api api;        /* of the backend, or of a kind */
    const char *transport;      /* name in describe texts, with a reason if there is one */
    unsigned flags;
    gr_resource *next_unbound; /* in the list of such resources without a thread rule */
    CUevent end;               /* after `released_on`, if a thread waited for it; else NULL */
    struct gr_image image;
    struct gr_staging staging;
    CUmodule kernels; /* the library's kernels, if the driver cannot hold them; else NULL */
    struct gr_objects *retired; /* of ended mappings, until their work is done */
    struct gr_objects *idle;    /* for reuse */
    CUevent ready; /* the caller's event that was last recorded after a map; never used here */
    CUevent order; /* for a release in another stream than the map's; NULL until needed */
    gr_resource_info info; /* filled by gr_resource_get_info() */
};

/* Whether the buffer is the current mapping of its resource. */
static inline bool gr_buffer_is_live(const gr_buffer *buffer)
{
    return __atomic_load_n(&buffer->resource->mapped, __ATOMIC_RELAXED) == buffer;
}

#endif
