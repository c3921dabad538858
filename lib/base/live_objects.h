/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table of live objects: every object that the program has to free. A lookup precedes every
 * access to an object's memory, so that a second free is detected.
 *
 * A successful constructor adds its object. The call that frees an object removes it, even if the
 * library still uses it. The table does not contain internal objects of the library.
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_LIB_BASE_LIVE_OBJECTS_H
#define GR_LIB_BASE_LIVE_OBJECTS_H

#include <grinterop/gr.h>

#include "lib/base/compiler.h"

enum gr_live_kind {
    GR_LIVE_RESOURCE,
    GR_LIVE_BUFFER, /* from allocation until the memory of the buffer is freed, mapped or not */
    GR_LIVE_SEMAPHORE,
    GR_LIVE_HELD_SEMAPHORE, /* until its last reference: submits name semaphores that were freed */
    GR_LIVE_RING,
    GR_LIVE_SUBMIT, /* until the memory of the submit is freed, in use or not */
    GR_LIVE_VK_DEVICE,
    GR_LIVE_VK_HEADLESS,
    GR_LIVE_EGL,
    GR_LIVE_CUDA_CONTEXT,
    GR_LIVE_TENSOR,
    GR_LIVE_DLPACK,       /* an export, ended by its deleter */
    GR_LIVE_DLPACK_TAKEN, /* an imported tensor whose producer's deleter was not called yet */
    GR_LIVE_KINDS
};

/*
 * Adds an object, or each of an array. Cannot fail: if memory is short, the object may be missing
 * in the table, and gr_live_has() then accepts unknown objects.
 */
void gr_live_add_each(enum gr_live_kind kind, const void *first, size_t n, size_t size);
static inline void gr_live_add(enum gr_live_kind kind, const void *object)
{
    gr_live_add_each(kind, object, 1, 0);
}

/* Removes an object; false if it is not in the table. */
bool gr_live_remove(enum gr_live_kind kind, const void *object);

/*
 * Both return whether an object is in the table. gr_live_has() also returns true if the object may
 * be missing for lack of memory.
 */
bool gr_live_has(enum gr_live_kind kind, const void *object);
bool gr_live_is_listed(enum gr_live_kind kind, const void *object);

/*
 * For calls that end an object. If the object is not in the table, records GR_ERR_INVALID_VALUE;
 * the caller must not access the object.
 */
bool gr_live_end(enum gr_live_kind kind, const void *object);
gr_status gr_live_refuse(enum gr_live_kind kind, const void *object) GR_COLD;
gr_status gr_live_check(enum gr_live_kind kind, const void *object);

/*
 * Frees the memory of an object that the caller no longer has, or of one that contains such an
 * object. The allocator gets it only after GR_LIVE_KEPT more objects of the kind, so that a second
 * free by mistake does not end a new object at the same address. NULL does nothing.
 */
#define GR_LIVE_KEPT 64
void gr_live_free_memory(enum gr_live_kind kind, void *memory);

/*
 * Sets the function that describes objects of a kind in the list of open objects at exit. By
 * default the list contains their addresses. `describe` must not call a driver. It returns false
 * for an object that the caller does not own. Only constructors of the library call this function,
 * on one thread.
 */
typedef bool (*gr_live_describe_fn)(const void *object, char *text, size_t size);
void gr_live_describe_by(enum gr_live_kind kind, gr_live_describe_fn describe);

#endif
