/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The state that a program can know of its objects: the life of resources, buffers, streams and
 * contexts as the headers describe it. The model is small and repeats none of the library's logic:
 * for each call it lists the errors that apply. The call must return one of these errors or, if
 * none applies, succeed.
 */
#ifndef GR_TESTS_FUZZ_MODEL_H
#define GR_TESTS_FUZZ_MODEL_H

#include "script.h"

#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>
#include <grinterop/ring.h>
#include <grinterop/submit.h>
#include <grinterop/tensor.h>
#include <grinterop/vk.h>

#define GL_CONTEXTS   2
#define CUDA_CONTEXTS 2
#define STREAMS       4
#define RESOURCES     8
#define BUFFERS       10
#define TENSORS       6
#define EXPORTS       3
#define DEVICES       2 /* in addition to the wrapped device that each world has */
#define MAILS         4
#define SUBMITS       3
#define RINGS         2
#define SLOTS         2           /* slots per ring */
#define ALL_SLOTS     (2 * SLOTS) /* including those that a resize replaced, with frames in them */
#define SEMAPHORES    4
#define GL_BUFFERS    6 /* half of them in each OpenGL context */
#define GL_IMAGES     4
#define NAMES         512 /* names of buffers and of images, to replace deleted or lost objects */
#define OBJECTS       (GL_BUFFERS + GL_IMAGES)
#define MOST_BYTES    320
#define BYTES         256
#define UNKNOWN       (-1)

/* Special streams. They are numbered after the places, so that one number selects any stream. */
enum special_stream {
    STREAM_NULL = STREAMS,
    STREAM_LEGACY,
    STREAM_PER_THREAD,
    STREAM_OF_MAP,
    STREAM_NONE,
    STREAM_CHOICES
};

/*
 * The life of an object. A place keeps the address of an ended object, for calls that define how
 * they handle such an object.
 */
enum life { NEVER, LIVE, ENDED };

struct stream {
    enum life life;
    CUstream it;
    int cuda; /* the CUDA context that it belongs to */
};

#define ANY_CONTEXT (-1)

/* An OpenGL buffer or image, or a Vulkan buffer. */
struct object {
    GLuint name;
    GLenum target;
    int context; /* the OpenGL context; ANY_CONTEXT: none is needed */
    size_t size;
    bool vulkan;
    bool shared;    /* another object has the same memory, so the bytes are always disputed */
    bool immutable; /* grinterop created the storage */
    bool deleted;
    /* OpenGL may no longer use the object: the CUDA context ended while the object was mapped. */
    bool lost;
    int mapped;              /* how many resources have it mapped */
    bool ringed;             /* a ring uses it */
    bool disputed;           /* mapped more than once: which write wins is undefined */
    short bytes[MOST_BYTES]; /* a byte value or UNKNOWN */
    short *of;               /* of a tensor whose memory the object has, instead of `bytes` */
};

static inline short *bytes_of(struct object *o)
{
    return o->of ? o->of : o->bytes;
}

struct resource;

struct buffer {
    enum life life;
    gr_buffer *it;
    struct resource *resource;
    CUstream stream;
    bool stream_ended;
    size_t offset, size; /* the mapped part of the object */
    bool linear_image;
    unsigned mapping; /* a number that identifies the mapping, since places are reused */
};

struct resource {
    enum life life; /* LIVE while the caller may use the resource */
    gr_resource *it;
    struct object *object, own; /* `own` is the object that grinterop created with the resource */
    size_t size;                /* the size of the storage at creation, or at the last map */
    bool follows;               /* gr_gl_options.follow_storage */
    unsigned flags;
    gr_transport transport;
    int cuda;  /* the CUDA context that was current at creation */
    bool gone; /* that context was destroyed */
    bool image, closed, used;
    bool grouped; /* created with share_group */
    /* gr_resource_wait() queries the stream of the last release, which may be destroyed. */
    bool last_may_be_gone;
    int out; /* how many of its buffers the caller has not released */
    /* `aside`: a mapping that the library keeps after gr_buffer_release_later(). */
    struct buffer *mapped, aside;
    /*
     * The library ends `aside` in a later call, when the OpenGL context is current: see
     * collect_one().
     */
    bool later;
    bool kept;            /* tensors keep `aside` */
    struct submit *begun; /* the uncommitted submit that includes it */
    struct ring *ring;    /* its ring, if it is a slot */
    bool external;        /* imported or received */
    bool undecided;       /* it is undecided whether the resource uses semaphores */
    bool is_new;          /* a Vulkan image that no submit has included yet */
    bool own_sync;        /* gr_resource_set_sync() was called */
    bool copied;          /* submits copy a Vulkan buffer */
};

enum slot_state { SLOT_NONE, SLOT_FREE, SLOT_WRITING, SLOT_READY, SLOT_READING };

struct slot {
    struct resource *resource;
    enum slot_state state;
    const gr_slot *it; /* set while the slot is written or read */
    CUstream stream;   /* set while the slot is written or read */
    uint64_t turn;     /* the frame in the slot; of a free slot: when it became free */
    int value;         /* the value of all bytes, or UNKNOWN */
    unsigned index;    /* the place in the list of ring_create or ring_resize */
    bool leaving;      /* a resize replaced the slot: it leaves the ring when it becomes free */
};

/* A ring between CUDA and OpenGL. */
struct ring {
    enum life life;
    gr_ring *it;
    bool cuda_reads; /* OpenGL writes and CUDA reads */
    bool newest;     /* GR_RING_NEWEST */
    struct slot slots[ALL_SLOTS];
    uint64_t written, read, dropped;
    uint64_t given_back; /* the newest frame that was given back */
    uint64_t freed;      /* how many slots were freed so far */
    bool stopped;
};

/* A submit of up to two resources. */
struct submit {
    enum life life;
    gr_submit *it;
    struct resource *list[2]; /* NULL: the resource left the submit, or the entry was never used */
    bool made;
    bool vulkans;   /* it includes, or has included, a Vulkan resource */
    unsigned order; /* by begin; submits must be committed in this order */
};

struct semaphore {
    enum life life;
    gr_semaphore *it;
    uint64_t value; /* the last value that was signalled directly */
    bool paired;    /* a resource uses the semaphore, or has used it */
};

/* A byte tensor. A view has the `bytes` of its base. */
struct tensor {
    enum life life;
    gr_tensor *it;
    short own[MOST_BYTES], *bytes;
    size_t size;
    struct tensor *base;       /* the tensor of which this is a view, or NULL */
    struct resource *resource; /* the resource of whose mapping this is a tensor, or NULL */
    unsigned mapping;
    gr_memory memory;
    bool read_only, revoked, whole, exportable;
    bool used;                /* the tensor, a view or an export of it is live */
    bool wraps;               /* wraps memory of the world, whose deleter is note_end() */
    struct export *import_of; /* NULL: not an import */
};

/* A tensor that another framework holds through DLPack. */
struct export
{
    enum life life;
    void *it;
    bool old;   /* the legacy form of DLPack */
    bool taken; /* imported: the end of the import ends the export */
    struct tensor *tensor;
};

/* A gr_vk_device that wraps the Vulkan device of the world. */
struct device {
    enum life life;
    gr_vk_device *it;
};

/* A resource that was sent and not received yet, and the size of the data with it. */
struct mail {
    size_t size, data;
    unsigned flags;
};

/* The objects of one thread. */
struct world {
    unsigned thread;
    /* No other thread runs, so none can reuse the address of an ended object. */
    bool alone;
    /* The software driver is in use, which refuses input that may crash the driver of a GPU. */
    bool software;
    uint32_t random;
    int theme;  /* the theme of the sequence, see table.c */
    bool loose; /* the next call may use objects of the wrong context */
    const char *doing;
    bool refused;       /* the current call was refused */
    bool driver_checks; /* a stream has ended, which only the driver detects */
    const gr_cuda_api *cu;
    gr_egl *egl[GL_CONTEXTS];
    int gl; /* the number of the current OpenGL context; GL_CONTEXTS: none */
    CUcontext contexts[CUDA_CONTEXTS];
    int cuda; /* the number of the current CUDA context */
    bool second_made, second_ended;
    bool interop_works, shared_works, copy_works;
    GLuint scratch[GL_CONTEXTS], names[NAMES], image_names[NAMES];
    int names_used; /* how many entries of each list have been used */
    struct stream streams[STREAMS];
    struct object objects[OBJECTS];
    struct resource resources[RESOURCES];
    struct buffer buffers[BUFFERS];
    struct tensor tensors[TENSORS];
    struct export exports[EXPORTS];
    gr_vk_headless *headless;
    const gr_vk_headless_info *vulkan;
    gr_vk_device *device; /* NULL without Vulkan */
    gr_resource *copied;  /* has the Vulkan buffer of all copied resources, which outlives them */
    struct device devices[DEVICES];
    PFN_vkQueueWaitIdle queue_wait_idle;
    int sockets[2]; /* data sent into the first arrives at the second */
    struct mail mails[MAILS];
    unsigned mail_sent, mail_read;
    struct submit submits[SUBMITS];
    /* the `order` of the submit that was begun last, and of the one that was committed last */
    unsigned begun, last_made;
    struct ring rings[RINGS];
    struct semaphore semaphores[SEMAPHORES];
    unsigned char wrapped[TENSORS][BYTES]; /* memory of the program for gr_tensor_from_memory() */
    int wraps, wraps_ended;
    unsigned mappings;
    bool handed; /* some of the objects were handed over to other threads */
};

/* ---- Judging --------------------------------------------------------------------------------- */

#define MAY(status) (1u << (status))

gr_graphics_api api_of(const struct resource *r);

/* Whether the resource needs no OpenGL context, or its OpenGL context is current. */
bool is_here(const struct world *w, const struct resource *r);

/* Reports a failure and ends the process. The parent reads the journal. */
void fail(struct world *w, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Fails unless the condition holds. */
#define must(w, condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail(w, "not so: %s", #condition);                                                     \
    } while (0)

/* Fails if the OpenGL context has a pending error. */
void no_gl_error(struct world *w);

/*
 * Compares a status with the set of allowed errors. If the set is empty, the status must be GR_OK.
 * Returns whether the status is GR_OK.
 */
bool judge(struct world *w, gr_status status, unsigned may);

/* Like judge(), for a call that returns an object: NULL after an error. */
bool judge_made(struct world *w, const void *made, unsigned may);

/* Fails if `result`, of a call on which the run depends, is an error. */
void need_cuda(struct world *w, CUresult result, const char *what);

/* ---- Objects --------------------------------------------------------------------------------- */

unsigned pick(struct world *w, unsigned n);

/* The object at a place, even if it has ended. NULL for place -1. */
struct resource *resource_at(struct world *w, int place);
struct buffer *buffer_at(struct world *w, int place);
struct tensor *tensor_at(struct world *w, int place);
struct object *object_at(struct world *w, int place); /* also NULL for a lost object */
gr_resource *handle_of(const struct resource *r);
gr_tensor *tensor_handle(const struct tensor *t);
gr_ring *ring_handle(const struct ring *ring);

/* Whether the object has ended, and no live object reuses its address. */
bool is_stale_resource(const struct world *w, const struct resource *r);
bool is_stale_buffer(const struct world *w, const struct buffer *b);
bool is_stale_tensor(const struct world *w, const struct tensor *t);
bool stream_lives(const struct world *w, CUstream stream);
bool is_stale_stream(const struct world *w, CUstream stream);

CUstream stream_at(const struct world *w, int choice);

/* Whether a call may get the stream: false if the stream has ended and passing it is undefined. */
bool is_stream_valid(const struct world *w, int choice);
bool is_tensor_valid(const struct world *w, const struct tensor *t);

/* Whether each map discards the contents of the resource. */
bool is_discarded(const struct resource *r);

/* Whether the tensor refers to an object that is mapped more than once. */
bool is_disputed(const struct tensor *t);

/* The resource whose object has the memory of the tensor; NULL: there is none. */
const struct resource *drawn_by(const struct world *w, const struct tensor *t);

/* Whether graphics may use the memory of the tensor now, so that CUDA must not. */
bool is_drawn(const struct world *w, const struct tensor *t);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The errors that a stream may cause for work on the resource. */
unsigned stream_may(const struct world *w, int choice, const struct resource *r, bool of_map);

/* The errors that may occur in every call that needs a live resource. */
unsigned resource_may(const struct resource *r);
unsigned context_may(const struct world *w, const struct resource *r);
unsigned map_may(const struct world *w, const struct resource *r);

/* GR_ERR_PARTIAL if the end of the mapping loses what CUDA wrote, because an owner has ended. */
unsigned loss_may(const struct resource *r);

/* The errors that may occur when the mapping is ended on this stream. */
unsigned end_may(const struct world *w, const struct resource *r, int choice);

/* ---- Effects of a success -------------------------------------------------------------------- */

void resource_is_made(struct world *w, struct resource *r, gr_resource *it, struct object *object,
                      unsigned flags);
void is_mapped(struct world *w, struct resource *r, struct buffer *b, gr_buffer *it,
               CUstream stream);

/*
 * A map discards the contents of the object. With transports that copy, bytes outside of the mapped
 * part keep their values.
 */
void discard(const struct resource *r, const struct buffer *b);

void is_unmapped(struct world *w, struct resource *r);
void is_released(struct world *w, struct buffer *b);
void note_release(struct world *w, struct resource *r);
void forget_if_ended(struct resource *r);

/* Count the live tensors of a mapping, and revoke them when the mapping ends. */
unsigned tensors_of(const struct world *w, const struct resource *r);
void tensors_are_revoked(struct world *w, const struct resource *r);

/*
 * tensor_is_freed(): the caller has freed the tensor or a view of it. export_is_ended(): an export
 * has ended. Both also end the tensors and exports that lose their last user.
 */
void tensor_is_freed(struct world *w, struct tensor *t);
void tensors_are_swept(struct world *w); /* also those that an ended resource has kept */
void export_is_ended(struct world *w, struct export *x);

/* gr_buffer_release_later() was called: the library owns the buffer from now on. */
void note_set_aside(struct world *w, struct buffer *b);

/* The slot has left its ring, so its resource is an ordinary one again. */
void slot_is_left(struct slot *slot);
void ring_is_freed(struct ring *ring);

/* The resource was closed or freed: a begun submit continues without it. */
void submit_is_left(struct resource *r);

/*
 * A call in the current context has created or ended a resource, and thereby ended deferred
 * mappings.
 */
void collect_later(struct world *w);

/*
 * collect_one(): a call on this resource has ended its deferred mapping. collect_first() makes such
 * a call.
 */
void collect_one(struct world *w, struct resource *r);
void collect_first(struct world *w, struct resource *r);

/*
 * gr_tensor_collect() was called: it frees resources that need no OpenGL context and whose free was
 * deferred.
 */
void collect_freed(struct world *w);

/* A call that may end deferred mappings has failed. The model adopts what the library reports. */
void maybe_collected(struct world *w);

void bytes_are(struct object *object, size_t offset, size_t size, int value);

/* ---- After each call ------------------------------------------------------------------------- */

void check_world(struct world *w);

#endif
