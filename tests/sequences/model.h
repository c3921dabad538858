/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a program may know about its objects: the life of resources, buffers, streams and contexts
 * as the headers describe it. The model is small and repeats none of the library's logic: for each
 * call it lists the errors that apply. The call must return one of them or, if none applies,
 * succeed.
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
#define DEVICES       2 /* besides the world's own */
#define MAILS         4
#define SUBMITS       3
#define RINGS         2
#define SLOTS         2 /* per ring */
#define SEMAPHORES    4
#define GL_BUFFERS    6 /* half of them in each context */
#define GL_IMAGES     4
#define NAMES         512 /* of buffers and of images, to replace deleted or lost ones */
#define OBJECTS       (GL_BUFFERS + GL_IMAGES)
#define MOST_BYTES    320
#define BYTES         256
#define UNKNOWN       (-1)

/* Special streams, numbered after the places so that one number selects any stream. */
enum special_stream {
    STREAM_NULL = STREAMS,
    STREAM_LEGACY,
    STREAM_PER_THREAD,
    STREAM_OF_MAP,
    STREAM_NONE,
    STREAM_CHOICES
};

/* After its end a place keeps the address, for calls that define how they handle a stale one. */
enum life { NEVER, LIVE, ENDED };

struct stream {
    enum life life;
    CUstream it;
    int cuda; /* the context it belongs to */
};

#define ANY_CONTEXT (-1)

/* An OpenGL buffer or image, or a Vulkan buffer. */
struct object {
    GLuint name;
    GLenum target;
    int context; /* the OpenGL context; ANY_CONTEXT: none */
    size_t size;
    bool vulkan;
    bool shared;    /* another object has the same memory: always disputed */
    bool immutable; /* grinterop created the storage */
    bool deleted;
    bool lost;               /* to CUDA: its context ended while the object was mapped */
    int mapped;              /* number of resources that have it mapped */
    bool ringed;             /* a ring uses it */
    bool disputed;           /* mapped more than once: which write wins is undefined */
    short bytes[MOST_BYTES]; /* or UNKNOWN */
};

struct resource;

struct buffer {
    enum life life;
    gr_buffer *it;
    struct resource *resource;
    CUstream stream;
    bool stream_ended;
    size_t offset, size; /* of the mapped part */
    bool linear_image;
    unsigned mapping; /* mapping number, since places are reused */
};

struct resource {
    enum life life; /* while the caller holds it */
    gr_resource *it;
    struct object *object, own; /* `own`: the object that grinterop created with it */
    size_t size;                /* of the storage at creation */
    unsigned flags;
    gr_transport transport;
    int cuda;  /* the CUDA context at creation */
    bool gone; /* that context was destroyed */
    bool image, closed, used;
    bool last_may_be_gone; /* the stream of its last release, which gr_resource_wait() queries */
    int out;               /* buffers of it that the caller holds */
    struct buffer *mapped, aside; /* `aside`: one that the library owns again */
    bool later;                   /* set aside: whether it is still mapped shows later */
    bool kept;                    /* by its tensors */
    struct submit *begun;         /* the uncommitted submit it is in */
    struct ring *ring;            /* if it is a slot of a ring */
    bool external;                /* imported or received */
    bool undecided;               /* about its semaphores */
    bool is_new;                  /* a Vulkan image that was in no submit yet */
    bool own_sync;                /* semaphores were set */
};

enum slot_state { SLOT_FREE, SLOT_WRITING, SLOT_READY, SLOT_READING };

struct slot {
    struct resource *resource;
    enum slot_state state;
    const gr_slot *it; /* while it is written or read */
    CUstream stream;   /* likewise */
    uint64_t frame;    /* if READY or READING */
    int value;         /* of all its bytes, or UNKNOWN */
    unsigned free_since;
};

/* A lossless ring between CUDA and OpenGL. */
struct ring {
    enum life life;
    gr_ring *it;
    bool cuda_reads; /* OpenGL writes and CUDA reads */
    struct slot slots[SLOTS];
    uint64_t written, read;
    unsigned freed; /* counts freed slots */
    bool stopped;
};

/* A submit of up to two resources. */
struct submit {
    enum life life;
    gr_submit *it;
    struct resource *list[2]; /* NULL: it left, or was never there */
    bool made;
    bool vulkans;   /* it has, or had, a Vulkan resource */
    unsigned order; /* of the begins, which is also the required order of commits */
};

struct semaphore {
    enum life life;
    gr_semaphore *it;
    uint64_t value; /* the last value signalled by hand */
    bool paired;    /* a resource uses it, or used it */
};

/* A byte tensor. It shares `bytes` with its views. */
struct tensor {
    enum life life;
    gr_tensor *it;
    short own[MOST_BYTES], *bytes;
    size_t size;
    struct tensor *base;       /* of a view; else NULL */
    struct resource *resource; /* of a mapping; else NULL */
    unsigned mapping;
    gr_memory memory;
    bool read_only, revoked, whole;
    bool used;                /* it lives, or a view or an export of it does */
    struct export *import_of; /* NULL: not an import */
};

/* A tensor as another framework holds it, by DLPack. */
struct export
{
    enum life life;
    void *it;
    bool old;   /* DLPack's legacy form */
    bool taken; /* imported; the end of the import ends it */
    struct tensor *tensor;
};

/* A wrap of the world's Vulkan device. */
struct device {
    enum life life;
    gr_vk_device *it;
};

/* A resource that was sent but not received yet, and the size of its data. */
struct mail {
    size_t size, data;
    unsigned flags;
};

/* The objects of one thread. */
struct world {
    unsigned thread;
    bool alone;    /* no other thread can reuse the address of an ended object */
    bool software; /* the software driver, which refuses input that may crash a GPU driver */
    uint32_t random;
    int theme;  /* of the sequence, see table.c */
    bool loose; /* the next call may use objects of the wrong context */
    const char *doing;
    bool refused; /* by the current call */
    const gr_cuda_api *cu;
    gr_egl *egl[GL_CONTEXTS];
    int gl; /* the current one; GL_CONTEXTS: none */
    CUcontext contexts[CUDA_CONTEXTS];
    int cuda; /* likewise */
    bool second_made, second_ended;
    bool interop_works, shared_works, copy_works;
    GLuint scratch[GL_CONTEXTS], names[NAMES], image_names[NAMES];
    int names_used; /* of either list */
    struct stream streams[STREAMS];
    struct object objects[OBJECTS];
    struct resource resources[RESOURCES];
    struct buffer buffers[BUFFERS];
    struct tensor tensors[TENSORS];
    struct export exports[EXPORTS];
    gr_vk_headless *headless;
    const gr_vk_headless_info *vulkan;
    gr_vk_device *device; /* NULL: no Vulkan */
    struct device devices[DEVICES];
    PFN_vkQueueWaitIdle queue_wait_idle;
    int sockets[2]; /* data sent into the first arrives at the second */
    struct mail mails[MAILS];
    unsigned mail_sent, mail_read;
    struct submit submits[SUBMITS];
    unsigned begun, last_made; /* by their order */
    struct ring rings[RINGS];
    struct semaphore semaphores[SEMAPHORES];
    unsigned char wrapped[TENSORS][BYTES]; /* memory of the program */
    int wraps, wraps_ended;
    unsigned mappings;
    bool handed; /* another thread now has some of its objects */
};

/* ---- Judging --------------------------------------------------------------------------------- */

#define MAY(status) (1u << (status))

gr_graphics_api api_of(const struct resource *r);

/* True if it needs no OpenGL context, or if its OpenGL context is current. */
bool is_here(const struct world *w, const struct resource *r);

/* Ends the process; the parent reads the journal. */
void fail(struct world *w, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Fails unless the condition holds. */
#define must(w, condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail(w, "not so: %s", #condition);                                                     \
    } while (0)

/* Fails if the OpenGL context has an error, and reports it. */
void no_gl_error(struct world *w);

/*
 * Compares a status with the allowed errors; if none is allowed it must be GR_OK. Returns whether
 * it is GR_OK.
 */
bool judge(struct world *w, gr_status status, unsigned may);

/* Likewise for a call that returns an object: NULL after an error. */
bool judge_made(struct world *w, const void *made, unsigned may);

/* Fails if a call of the driver or the system fails that the run depends on. */
void need_cuda(struct world *w, CUresult result, const char *what);

/* ---- Objects --------------------------------------------------------------------------------- */

unsigned pick(struct world *w, unsigned n);

/* The object at a place, even an ended one; NULL for -1. */
struct resource *resource_at(struct world *w, int place);
struct buffer *buffer_at(struct world *w, int place);
struct tensor *tensor_at(struct world *w, int place);
struct object *object_at(struct world *w, int place); /* NULL also for a lost one */
gr_resource *handle_of(const struct resource *r);
gr_tensor *tensor_handle(const struct tensor *t);
gr_ring *ring_handle(const struct ring *ring);

/* It ended, and no live object reuses its address. */
bool is_stale_resource(const struct world *w, const struct resource *r);
bool is_stale_buffer(const struct world *w, const struct buffer *b);
bool is_stale_tensor(const struct world *w, const struct tensor *t);
bool stream_lives(const struct world *w, CUstream stream);
bool is_stale_stream(const struct world *w, CUstream stream);

CUstream stream_at(const struct world *w, int choice);

/* Whether it can be given to a call: not a stale one where that is undefined. */
bool is_stream_valid(const struct world *w, int choice);
bool is_tensor_valid(const struct world *w, const struct tensor *t);

/* Each map discards its contents. */
bool is_discarded(const struct resource *r);

/* True for a tensor of an object that is mapped more than once. */
bool is_disputed(const struct tensor *t);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The errors of a stream for work on a resource. */
unsigned stream_may(const struct world *w, int choice, const struct resource *r, bool of_map);

/* The errors of a call that needs a live resource. */
unsigned resource_may(const struct resource *r);
unsigned context_may(const struct world *w, const struct resource *r);
unsigned map_may(const struct world *w, const struct resource *r);

/* The errors of ending a mapping on this stream. */
unsigned end_may(const struct world *w, const struct resource *r, int choice);

/* ---- Effects of a success -------------------------------------------------------------------- */

void resource_is_made(struct world *w, struct resource *r, gr_resource *it, struct object *object,
                      unsigned flags);
void is_mapped(struct world *w, struct resource *r, struct buffer *b, gr_buffer *it,
               CUstream stream);
void is_unmapped(struct world *w, struct resource *r);
void is_released(struct world *w, struct buffer *b);
void note_release(struct world *w, struct resource *r);
void forget_if_ended(struct resource *r);

/* The live tensors of a mapping, and their revocation when it ends. */
unsigned tensors_of(const struct world *w, const struct resource *r);
void tensors_are_revoked(struct world *w, const struct resource *r);

/*
 * The caller has freed the tensor or a view of it, or an export of it has ended: also ends what it
 * was the last user of.
 */
void tensor_is_freed(struct world *w, struct tensor *t);
void export_is_ended(struct world *w, struct export *x);

/* From now on the library owns the buffer. */
void note_set_aside(struct world *w, struct buffer *b);

/* The ring has new slots, or has ended: its resources become ordinary ones. */
void slots_are_left(struct ring *ring);
void ring_is_freed(struct ring *ring);

/* It was closed or freed: a begun submit continues without it. */
void submit_is_left(struct resource *r);

/* A call in the current context has created or ended a resource. */
void collect_later(struct world *w);

/* A call on this resource collects it: after a success, or in any case. */
void collect_one(struct world *w, struct resource *r);
void collect_first(struct world *w, struct resource *r);

/* gr_tensor_collect() ends freed tensors that need no OpenGL context. */
void collect_freed(struct world *w);

/* Such a call has failed but may have collected. */
void maybe_collected(struct world *w);

void bytes_are(struct object *object, size_t offset, size_t size, int value);

/* ---- After each call ------------------------------------------------------------------------- */

void check_world(struct world *w);

#endif
