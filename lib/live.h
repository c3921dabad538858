/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table of live objects: every object that a program was given and has to free. It is checked
 * before an object's memory is touched, so that a second free is detected.
 *
 * A constructor adds an object when it succeeds; the call that frees it removes it, even if the
 * library keeps using it. Internal objects of the library are not in it.
 *
 * Thread   any thread, several at the same time; lookups are lock-free, changes take a few tens of
 * nanoseconds
 */
#ifndef GR_LIB_LIVE_H
#define GR_LIB_LIVE_H

#include <grinterop/gr.h>

enum gr_live_kind {
    GR_LIVE_RESOURCE,
    GR_LIVE_BUFFER, /* from allocation to the end of its memory, in use or not */
    GR_LIVE_SEMAPHORE,
    GR_LIVE_RING,
    GR_LIVE_SUBMIT,
    GR_LIVE_RING_SUBMIT, /* owned by a ring and visible in its slots: the caller does not free it */
    GR_LIVE_VK_DEVICE,
    GR_LIVE_VK_HEADLESS,
    GR_LIVE_EGL,
    GR_LIVE_CUDA_CONTEXT,
    GR_LIVE_TENSOR,
    GR_LIVE_DLPACK,       /* an export, ended by its deleter */
    GR_LIVE_DLPACK_TAKEN, /* an imported tensor of a producer whose deleter was not called yet */
    GR_LIVE_KINDS
};

/* Adds an object. It cannot fail: if memory is short, the table becomes less strict. */
void gr_live_add(enum gr_live_kind kind, const void *object);

/* Removes an object; false if it is not in the table. */
bool gr_live_remove(enum gr_live_kind kind, const void *object);

/*
 * Whether an object is in the table. has() also returns true if the table may have missed it for
 * lack of memory.
 */
bool gr_live_has(enum gr_live_kind kind, const void *object);
bool gr_live_is_listed(enum gr_live_kind kind, const void *object);

/*
 * For calls that end an object. If it is not in the table they record GR_ERR_INVALID_VALUE for
 * `call`: do not touch it then.
 */
bool gr_live_end(enum gr_live_kind kind, const void *object, const char *call);
gr_status gr_live_check(enum gr_live_kind kind, const void *object, const char *call);

/*
 * Sets how objects of a kind are described in the list of open objects at exit; by default by their
 * addresses. `describe` calls no driver, and returns false for an object that the caller does not
 * have. For constructors of the library, on one thread.
 */
typedef bool (*gr_live_describe_fn)(const void *object, char *text, size_t size);
void gr_live_describe_by(enum gr_live_kind kind, gr_live_describe_fn describe);

#endif
