/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of what lives: every object that a program was given and has to give back. A program
 * that gives one back twice is told so, since the table is asked before the memory is touched.
 *
 * An object is put in when its constructor succeeds, and taken out by the call that gives it back,
 * even where the library goes on using it. What the library makes for itself is not in it.
 *
 * Thread   any thread, several at once; a look takes no lock, all else a few tens of nanoseconds
 */
#ifndef GR_LIB_LIVE_H
#define GR_LIB_LIVE_H

#include <grinterop/gr.h>

enum gr_live_kind {
    GR_LIVE_RESOURCE,
    GR_LIVE_BUFFER, /* from allocation to the end of its memory, out or not */
    GR_LIVE_SEMAPHORE,
    GR_LIVE_RING,
    GR_LIVE_SUBMIT,
    GR_LIVE_RING_SUBMIT, /* a ring's own, that its slots show: the caller has nothing to free */
    GR_LIVE_VK_DEVICE,
    GR_LIVE_VK_HEADLESS,
    GR_LIVE_EGL,
    GR_LIVE_CUDA_CONTEXT,
    GR_LIVE_TENSOR,
    GR_LIVE_DLPACK,       /* an export, which its deleter ends */
    GR_LIVE_DLPACK_TAKEN, /* a producer's that was imported, and has not been told of the end */
    GR_LIVE_KINDS
};

/* Puts an object in. It cannot fail: without memory the table is less strict from then on. */
void gr_live_add(enum gr_live_kind kind, const void *object);

/* Takes an object out; false: it is not in. */
bool gr_live_remove(enum gr_live_kind kind, const void *object);

/*
 * Whether an object is in; has() says so too of what a table without memory may have left out.
 */
bool gr_live_has(enum gr_live_kind kind, const void *object);
bool gr_live_is_listed(enum gr_live_kind kind, const void *object);

/*
 * The same for the calls that end a life. Where the object is not in they record
 * GR_ERR_INVALID_VALUE, which says that `call` was given what is gone: do not touch it then.
 */
bool gr_live_end(enum gr_live_kind kind, const void *object, const char *call);
gr_status gr_live_check(enum gr_live_kind kind, const void *object, const char *call);

/*
 * Says how the objects of a kind are described in the list of what is open when the process ends;
 * without it they are by their addresses. `describe` asks no driver, and returns false for an
 * object that is not in the caller's hands. For constructors of the library: one thread.
 */
typedef bool (*gr_live_describe_fn)(const void *object, char *text, size_t size);
void gr_live_describe_by(enum gr_live_kind kind, gr_live_describe_fn describe);

#endif
