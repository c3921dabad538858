/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program may know of the objects that it has: the life of resources, buffers, streams and
 * contexts as the headers tell it. It is small, and has nothing of the library's own logic: for
 * each call it says which errors apply. With one that applies the call has to give that one, with
 * several any of them, and with none it has to succeed.
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
#define DEVICES       2 /* beside the world's own */
#define MAILS         4
#define SUBMITS       3
#define RINGS         2
#define SLOTS         2 /* of a ring */
#define SEMAPHORES    4
#define GL_BUFFERS    6 /* half of them in each context */
#define GL_IMAGES     4
#define NAMES         512 /* of buffers, and of images, for those that are deleted or lost */
#define OBJECTS       (GL_BUFFERS + GL_IMAGES)
#define MOST_BYTES    320
#define BYTES         256
#define UNKNOWN       (-1)

/* Streams that are no place: behind the places, so that a number names each. */
enum special_stream {
    STREAM_NULL = STREAMS,
    STREAM_LEGACY,
    STREAM_PER_THREAD,
    STREAM_OF_MAP,
    STREAM_NONE,
    STREAM_CHOICES
};

/* A place whose object ended keeps its address, for calls that say what they do with such a one. */
enum life { NEVER, LIVE, ENDED };

struct stream {
    enum life life;
    CUstream it;
    int cuda; /* the context that it is of */
};

#define ANY_CONTEXT (-1)

/* A buffer or an image of OpenGL's, or a buffer of Vulkan's. */
struct object {
    GLuint name;
    GLenum target;
    int context; /* of OpenGL's; ANY_CONTEXT: it has none */
    size_t size;
    bool vulkan;
    bool shared;    /* another object has the bytes too: it is disputed for good */
    bool immutable; /* grinterop made the storage */
    bool deleted;
    bool lost;               /* CUDA's for ever: its context ended while the object was mapped */
    int mapped;              /* by how many resources */
    bool ringed;             /* it is a ring's */
    bool disputed;           /* by more than one at once: whose bytes win is not defined */
    short bytes[MOST_BYTES]; /* or UNKNOWN */
};

struct resource;

struct buffer {
    enum life life;
    gr_buffer *it;
    struct resource *resource;
    CUstream stream;
    bool stream_ended;
    size_t offset, size; /* of the part that is mapped */
    bool linear_image;
    unsigned mapping; /* its number: places are used again */
};

struct resource {
    enum life life; /* of the caller's hold */
    gr_resource *it;
    struct object *object, own; /* `own` is what grinterop made with it */
    size_t size;                /* of the storage when it was made */
    unsigned flags;
    gr_transport transport;
    int cuda;  /* the CUDA context that it was made in */
    bool gone; /* which was destroyed */
    bool image, closed, used;
    bool last_may_be_gone; /* the stream of its last release, which gr_resource_wait() asks */
    int out;               /* its buffers that are the caller's */
    struct buffer *mapped, aside; /* `aside` is one that is the library's again */
    bool later;                   /* it was set aside: whether it is mapped shows later */
    bool kept;                    /* its tensors keep it */
    struct submit *begun;         /* which it is in, and which was not made */
    struct ring *ring;            /* whose slot it is */
    bool external;                /* imported, or received */
    bool undecided;               /* about its semaphores */
    bool is_new;                  /* an image of Vulkan's that no submit was made of */
    bool own_sync;                /* it was given some */
};

enum slot_state { SLOT_FREE, SLOT_WRITING, SLOT_READY, SLOT_READING };

struct slot {
    struct resource *resource;
    enum slot_state state;
    const gr_slot *it; /* while it is written or read */
    CUstream stream;   /* likewise */
    uint64_t frame;    /* READY, READING */
    int value;         /* of all its bytes, or UNKNOWN */
    unsigned free_since;
};

/* Between CUDA and OpenGL, without loss. */
struct ring {
    enum life life;
    gr_ring *it;
    bool cuda_reads; /* OpenGL writes, not CUDA */
    struct slot slots[SLOTS];
    uint64_t published, read;
    unsigned freed; /* counts those */
    bool stopped;
};

/* A submit of up to two resources. */
struct submit {
    enum life life;
    gr_submit *it;
    struct resource *list[2]; /* NULL: it left, or was none */
    bool made;
    bool vulkans;   /* it has, or had, one of Vulkan's */
    unsigned order; /* in which they were begun, and have to be made */
};

struct semaphore {
    enum life life;
    gr_semaphore *it;
    uint64_t value; /* signalled by hand */
    bool paired;    /* a resource has it, or had it */
};

/* Memory with a shape, of bytes. It has `bytes` in common with its views. */
struct tensor {
    enum life life;
    gr_tensor *it;
    short own[MOST_BYTES], *bytes;
    size_t size;
    struct tensor *base;       /* of a view; NULL: none */
    struct resource *resource; /* whose mapping it is of; NULL: none */
    unsigned mapping;
    gr_memory memory;
    bool read_only, revoked, whole;
    bool used;                /* it lives, or a view or an export of it does */
    struct export *import_of; /* NULL: none */
};

/* What another framework has of a tensor, by DLPack. */
struct export
{
    enum life life;
    void *it;
    bool old;   /* of DLPack's older form */
    bool taken; /* an import has it, whose end ends it */
    struct tensor *tensor;
};

/* A wrap of the world's Vulkan device. */
struct device {
    enum life life;
    gr_vk_device *it;
};

/* A resource that was sent, and not received yet, with so many bytes of data. */
struct mail {
    size_t size, data;
    unsigned flags;
};

/* One thread's objects. */
struct world {
    unsigned thread;
    bool alone;    /* no other thread may be given the address of what ended here */
    bool software; /* the software driver, which refuses what a GPU's may crash on */
    uint32_t random;
    int theme;  /* of the sequence, in table.c */
    bool loose; /* the next call's objects may be of the wrong context */
    const char *doing;
    bool refused; /* by the call that is made */
    const gr_cuda_api *cu;
    gr_egl *egl[GL_CONTEXTS];
    int gl; /* which one is current; GL_CONTEXTS: none */
    CUcontext contexts[CUDA_CONTEXTS];
    int cuda; /* likewise */
    bool second_made, second_ended;
    bool interop_works, shared_works, copy_works;
    GLuint scratch[GL_CONTEXTS], names[NAMES], image_names[NAMES];
    int names_used; /* of either */
    struct stream streams[STREAMS];
    struct object objects[OBJECTS];
    struct resource resources[RESOURCES];
    struct buffer buffers[BUFFERS];
    struct tensor tensors[TENSORS];
    struct export exports[EXPORTS];
    gr_vk_headless *headless;
    const gr_vk_headless_info *vulkan;
    gr_vk_device *device; /* NULL: there is no Vulkan */
    struct device devices[DEVICES];
    PFN_vkQueueWaitIdle queue_wait_idle;
    int sockets[2]; /* what is sent into the first comes out of the second */
    struct mail mails[MAILS];
    unsigned mail_sent, mail_read;
    struct submit submits[SUBMITS];
    unsigned begun, last_made; /* by their order */
    struct ring rings[RINGS];
    struct semaphore semaphores[SEMAPHORES];
    unsigned char wrapped[TENSORS][BYTES]; /* memory of the program's */
    int wraps, wraps_ended;
    unsigned mappings;
    bool handed; /* some of what was made here is another thread's now */
};

/* ---- Judging --------------------------------------------------------------------------------- */

#define MAY(status) (1u << (status))

gr_graphics_api api_of(const struct resource *r);

/* It has to do with no context of OpenGL's, or with the one that is current. */
bool is_here(const struct world *w, const struct resource *r);

/* Ends the process: the parent finds the journal. */
void fail(struct world *w, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Fails, unless it is so. */
#define must(w, condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail(w, "not so: %s", #condition);                                                     \
    } while (0)

/* Fails where OpenGL's context has an error, and says which. */
void no_gl_error(struct world *w);

/* Compares a status with what may be; without any error that may be it has to be GR_OK. */
void judge(struct world *w, gr_status status, unsigned may);

/* Likewise what a call made: NULL after an error. */
void judge_made(struct world *w, const void *made, unsigned may);

/* A driver's or system's call that has to succeed, or the run means nothing. */
void need_cuda(struct world *w, CUresult result, const char *what);

/* ---- What there is --------------------------------------------------------------------------- */

unsigned pick(struct world *w, unsigned n);

/* The object of a place, also one that ended; NULL for -1. */
struct resource *resource_at(struct world *w, int place);
struct buffer *buffer_at(struct world *w, int place);
struct tensor *tensor_at(struct world *w, int place);
struct object *object_at(struct world *w, int place); /* NULL also for one that is lost */
gr_resource *handle_of(const struct resource *r);
gr_tensor *tensor_handle(const struct tensor *t);
gr_ring *ring_handle(const struct ring *ring);

/* It ended, and nothing that lives has its address. */
bool is_stale_resource(const struct world *w, const struct resource *r);
bool is_stale_buffer(const struct world *w, const struct buffer *b);
bool is_stale_tensor(const struct world *w, const struct tensor *t);
bool stream_lives(const struct world *w, CUstream stream);
bool is_stale_stream(const struct world *w, CUstream stream);

CUstream stream_at(const struct world *w, int choice);

/* Whether a call may be given it at all: not one that ended where that is undefined. */
bool stream_can_be_given(const struct world *w, int choice);
bool tensor_can_be_given(const struct world *w, const struct tensor *t);

/* Its contents go at each map. */
bool is_discarded(const struct resource *r);

/* Of a mapping of what more than one has mapped. */
bool is_disputed(const struct tensor *t);

/* ---- Which errors apply ---------------------------------------------------------------------- */

/* A stream to work with a resource on. */
unsigned stream_may(const struct world *w, int choice, const struct resource *r, bool of_map);

/* A call that needs the resource to be one that lives. */
unsigned resource_may(const struct resource *r);
unsigned context_may(const struct world *w, const struct resource *r);
unsigned map_may(const struct world *w, const struct resource *r);

/* The end of what is mapped, on this stream. */
unsigned end_may(const struct world *w, const struct resource *r, int choice);

/* ---- What a success changes ------------------------------------------------------------------ */

void resource_is_made(struct world *w, struct resource *r, gr_resource *it, struct object *object,
                      unsigned flags);
void is_mapped(struct world *w, struct resource *r, struct buffer *b, gr_buffer *it,
               CUstream stream);
void is_unmapped(struct world *w, struct resource *r);
void is_released(struct world *w, struct buffer *b);
void is_let_go(struct world *w, struct resource *r);
void forget_if_ended(struct resource *r);

/* Tensors of what is mapped that live, and those of a mapping that ends. */
unsigned tensors_of(const struct world *w, const struct resource *r);
void tensors_are_revoked(struct world *w, const struct resource *r);

/*
 * The caller's hold of it, of a view, or an export of it went: what that was the last user of ends
 * too.
 */
void tensor_is_freed(struct world *w, struct tensor *t);
void export_is_ended(struct world *w, struct export *x);

/* The buffer is the library's from here on. */
void is_set_aside(struct world *w, struct buffer *b);

/* The ring has other slots, or has ended: its resources are ordinary ones again. */
void slots_are_left(struct ring *ring);
void ring_is_freed(struct ring *ring);

/* It was closed, or let go of: a submit that was begun goes on without it. */
void submit_is_left(struct resource *r);

/* A call in the context that is current has made or ended a resource. */
void collect_later(struct world *w);

/* A call is about this one: one that succeeds, or any. */
void collect_one(struct world *w, struct resource *r);
void collect_first(struct world *w, struct resource *r);

/* gr_tensor_collect() ends what was freed, and no context of OpenGL's matters for. */
void collect_freed(struct world *w);

/* A call of that sort has failed, which may have collected all the same. */
void ask_later(struct world *w);

void bytes_are(struct object *object, size_t offset, size_t size, int value);

/* ---- After each call ------------------------------------------------------------------------- */

void check_world(struct world *w);

#endif
