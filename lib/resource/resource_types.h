/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The structs of resources and buffers, for files of the library. Their functions are in resource/.
 */
#ifndef GR_LIB_RESOURCE_RESOURCE_TYPES_H
#define GR_LIB_RESOURCE_RESOURCE_TYPES_H

#include <grinterop/gr.h>
#include <grinterop/image.h>
#include <grinterop/semaphore.h>
#include <stdatomic.h>

#include "lib/base/cuda_abi.h"
#include "lib/cuda/context.h"
#include "lib/cuda/end_after_event.h"
#include "lib/cuda/last_work.h"
#include "lib/cuda/stream_uses.h"

struct gr_backend;
struct gr_objects;
struct gr_semaphore_pair;
struct gr_submit_use;
struct gr_turns;
struct gr_mapping_user;

/* Linear device memory for one level and layer of an image. */
struct gr_staging {
    CUdeviceptr ptr;
    size_t room; /* the allocated size in bytes */
    struct gr_last_work work;
};

/* A rectangle of one level of an image, in `depth` slices of `layers` layers. */
struct gr_region {
    unsigned level, layer, layers, z, depth;
    size_t x, y, width, height;
};

/*
 * A mapping. It lies in its resource or in the resource's list of spare buffers, so that maps and
 * releases do not allocate.
 */
struct gr_buffer {
    /* The fields that every map and release uses: one cache line. */
    gr_resource *resource;
    _Atomic CUdeviceptr ptr; /* 0 once the mapping has ended */
    size_t size;
    CUstream stream;
    size_t offset, part; /* for a buffer: the mapped part, as offset and size in bytes */
    /* the number of `users`; 0 is final, because only the thread of the resource adds users */
    atomic_uint user_count;
    atomic_bool out;   /* the caller owns the buffer */
    atomic_bool later; /* deferred by gr_buffer_release_later() */
    /* the release is deferred until the users are removed: lib/resource/mapping_users.h */
    bool kept;
    bool is_spare; /* allocated; not in the resource */
    bool has_region;
    bool linear; /* of an image: its arrays take no part, see linear() of the backend */
    /* GR_READ_ONLY or GR_WRITE_DISCARD if the mapping narrows the flags of the resource, or 0 */
    unsigned char narrowed;

    gr_buffer *next;               /* in the list of deferred or spare buffers */
    struct gr_mapping_user *users; /* the users of the mapped bytes */
    atomic_size_t pitch;           /* the pitch of the linear memory of an image, or 0 */
    unsigned level, layer;         /* the level and layer of the image in linear memory */
    bool listed;                   /* temporary mark of a release of many buffers */
    struct gr_region region;       /* if has_region: the map and its release move only this part */
    gr_buffer_info shown;          /* filled by gr_buffer_get_info() */
    gr_image_info info;            /* returned by gr_buffer_get_image_info() */
};

/* Who has a resource of an API with submits, as far as submits and maps tell. */
enum gr_holder {
    GR_HELD_BY_NOBODY,   /* maps and submits are possible: of a new buffer, for example */
    GR_HELD_BY_GRAPHICS, /* a submit must hand the resource to CUDA before a map */
    GR_HELD_BY_CUDA      /* a submit must take the resource back before it is used */
};

/* The largest number of frames in flight. */
#define GR_MOST_IN_FLIGHT 64

/*
 * The order of a resource: the last work of CUDA and of the graphics API. Its functions are in
 * lib/sync/sync.h.
 */
struct gr_sync {
    struct gr_last_work work; /* CUDA's last release, or a map that was undone since */
    /* the value of `release` that CUDA's last release signals; 0: none */
    uint64_t computed;
    /* the value of `acquire` that the next map waits for; 0: none */
    uint64_t drawn;
    gr_semaphore *acquire, *release; /* references to the semaphores of `pair`, or NULL */
    /* the use in the open submit of the resource, or NULL; another thread may free the submit */
    _Atomic(struct gr_submit_use *) begun;
    bool decided; /* the order of the resource is defined: by semaphores, or explicitly by none */
    enum gr_holder held_by;
    bool undone; /* `work` is a map that was undone, whose copies may still run */
    bool owes;   /* a release copied bytes that no committed submit has moved to the object */
    struct gr_semaphore_pair *pair; /* a reference, or NULL */
    struct gr_turns *turns;         /* NULL without frames in flight */
};

#define GR_BUFFERS_IN_TURN 4

/* The common part of every resource; the struct of a backend begins with it. */
struct gr_resource {
    /* The fields that every map and release uses: three cache lines, up to the count of `uses`. */
    const struct gr_backend *backend;
    /*
     * The driver's object, whose type depends on the backend; NULL once closed. If `follows`, the
     * resource itself while nothing is registered: the next map registers the object.
     */
    void *handle;
    /*
     * The current mapping, or NULL. If any thread may use the resource, gr_buffer_release_later()
     * may end the mapping on another thread at any time; the buffer stays valid memory.
     */
    _Atomic(gr_buffer *) mapped;
    _Atomic(gr_buffer *) deferred; /* buffers whose release was deferred: deferred_release.c */
    size_t size;                   /* the size in bytes */
    CUdeviceptr ptr;               /* for a buffer: its address, valid after map() of the backend */
    /* the buffer of the mapping, from the start of its map on; NULL without one */
    gr_buffer *current;
    gr_resource *after; /* the next resource of the group: gr_group_has() */
    bool is_image, is_3d;
    /*
     * The resource is in a ring, and only the ring may map it; or it is staging memory of the
     * library, whose maps and uses by OpenGL are apart. Cleared last, on any thread.
     */
    atomic_bool in_a_ring;
    bool parked;               /* the end of the resource is deferred: backend->park() */
    bool claimed;              /* a thread is ending the resource */
    atomic_bool turn_is_taken; /* gr_resource_take_turn() */
    unsigned char lock;        /* the index of the lock of `holds`: resource.c */
    /*
     * Reference counts. `holds` counts the reference of the caller, which lasts until
     * gr_resource_free(), and the references of the library.
     */
    atomic_uint holds;
    atomic_uint buffers_out;
    unsigned turn;      /* the index of the next buffer in `first` */
    unsigned char told; /* interop: the last value of `narrowed` that the driver was told */
    struct gr_sync sync;
    struct gr_stream_uses uses; /* the streams of freed tensors, until the mapping ends */

    struct gr_context context;
    CUstream checked;  /* the stream that was last found to belong to the right CUDA context */
    size_t grouped_at; /* the value of gr_group_changes when `after` was set */

    /*
     * Enough buffers if each mapping is released before the next map. The buffers are used in
     * rotation, so that a second release of a buffer is still detected after some more maps.
     */
    gr_buffer first[GR_BUFFERS_IN_TURN];
    gr_buffer *spare; /* further buffers that are not in use */

    atomic_int device_plus_1; /* 1 + the device of `context`, or 0 before the first tensor */
    /* the name of the transport in descriptions, with the reason for using it if there is one */
    const char *transport;
    unsigned flags;
    bool follows;           /* a map registers the object again if its storage was replaced */
    struct gr_ending freed; /* releases deferred buffers after the caller has freed the resource */
    /*
     * An image as its graphics API describes it, without `texel_bytes`. `channels` is 0 if the
     * description is known only after a map: CUDA describes the image at each map.
     */
    gr_image_info image;
    struct gr_staging staging;
    /* the kernels of the library, if the driver needs a module per context; otherwise NULL */
    CUmodule kernels;
    struct gr_objects *objects; /* the surfaces and textures, or NULL: image_objects.c */
    /* the caller's event that was last recorded after a map; the library never uses the event */
    CUevent ready;
    /* an event for a release in another stream than that of the map; NULL until needed */
    CUevent order;
    gr_resource_info info; /* filled by gr_resource_get_info() */
};

/* Returns how the current mapping, if there is one, narrows the flags. */
static inline unsigned gr_resource_narrowed(const gr_resource *resource)
{
    return resource->current ? resource->current->narrowed : 0;
}

/* Whether CUDA reads or writes the resource, in the current mapping if there is one. */
static inline bool gr_resource_reads(const gr_resource *resource)
{
    return !((resource->flags | gr_resource_narrowed(resource)) & GR_WRITE_DISCARD);
}

static inline bool gr_resource_writes(const gr_resource *resource)
{
    return !((resource->flags | gr_resource_narrowed(resource)) & GR_READ_ONLY);
}

/* Whether the buffer is the current mapping of its resource. */
static inline bool gr_buffer_is_live(const gr_buffer *buffer)
{
    return buffer->resource->mapped == buffer;
}

#endif
