/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/stream_uses.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/cuda/context.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/base/lock.h"

#define FIRST_ROOM (sizeof(((struct gr_stream_uses *)NULL)->first) / sizeof(struct gr_stream_use))

static struct gr_stream_use *items_of(struct gr_stream_uses *list)
{
    return list->items ? list->items : list->first;
}

static size_t room_of(const struct gr_stream_uses *list)
{
    return list->items ? list->room : FIRST_ROOM;
}

static void set_count(struct gr_stream_uses *list, size_t count)
{
    atomic_store_explicit(&list->count, count, memory_order_release);
}

/* ---- Streams and events ---------------------------------------------------------------------- */

/*
 * CU_STREAM_PER_THREAD names another stream on each thread. The legacy stream waits for all of
 * these streams.
 */
CUstream gr_stream_for_any_thread(CUstream stream)
{
    return stream == CU_STREAM_PER_THREAD ? CU_STREAM_LEGACY : stream;
}

static CUcontext current_context(void)
{
    CUcontext current = NULL;
    gr_driver()->CtxGetCurrent(&current);
    return current;
}

/* Returns the context that distinguishes default streams; NULL for other streams. */
static CUcontext context_of(CUstream stream, CUcontext context)
{
    return gr_stream_is_default(stream) ? context : NULL;
}

static bool is_same(const struct gr_stream_use *use, CUstream stream, CUcontext of)
{
    return use->stream == stream && use->of == of && stream != CU_STREAM_PER_THREAD;
}

/* Records an event after the stream's work so far, or waits if that fails. `context` is current. */
static void record_in(struct gr_stream_use *use, CUcontext context)
{
    const struct gr_driver_api *cu = gr_driver();
    CUstream stream = use->stream;
    if (use->event && use->context != context) {
        cu->EventDestroy(use->event);
        use->event = NULL;
    }
    use->context = context;
    CUresult result = CUDA_SUCCESS;
    if (!use->event)
        result = cu->EventCreate(&use->event, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS)
        use->event = NULL;
    else
        result = cu->EventRecord(use->event, stream);
    if (result != CUDA_SUCCESS)
        gr_stream_finish(stream);
}

/* Records the event of an entry. Another thread may do so for an entry that is `captures`. */
static void record(struct gr_stream_use *use)
{
    const struct gr_driver_api *cu = gr_driver();
    CUcontext current = current_context(), context = use->of;
    if (!context && cu->StreamGetCtx(use->stream, &context) != CUDA_SUCCESS)
        context = current;
    /* the events of a stream must belong to its context */
    GR_ENTERED entered =
        gr_context_entered(cu, context != current && cu->CtxPushCurrent(context) == CUDA_SUCCESS);
    use->captures = gr_event_capture(use->stream) != CUDA_SUCCESS;
    if (use->captures)
        use->stream = gr_stream_for_any_thread(use->stream);
    else
        record_in(use, context);
}

static bool is_done(struct gr_stream_use *use)
{
    if (use->captures)
        record(use);
    return !use->captures && (!use->event || gr_event_has_passed(use->event));
}

/* ---- Entries --------------------------------------------------------------------------------- */

static struct gr_stream_use *find(struct gr_stream_uses *list, CUstream stream, CUcontext of)
{
    struct gr_stream_use *items = items_of(list);
    for (size_t i = 0; i < list->count; i++)
        if (is_same(&items[i], stream, of))
            return &items[i];
    return NULL;
}

/* Removes finished entries: moves them beyond the count, where new entries reuse their events. */
static void drop_done(struct gr_stream_uses *list)
{
    struct gr_stream_use *items = items_of(list);
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!items[i].open && is_done(&items[i]))
            continue;
        struct gr_stream_use kept = items[i];
        items[i] = items[left];
        items[left++] = kept;
    }
    set_count(list, left);
}

static bool grow(struct gr_stream_uses *list)
{
    size_t room = 2 * room_of(list);
    struct gr_stream_use *larger = calloc(room, sizeof(*larger));
    if (!larger)
        return false;
    for (size_t i = 0; i < room_of(list); i++)
        larger[i] = items_of(list)[i];
    free(list->items);
    list->items = larger;
    list->room = room;
    return true;
}

/*
 * Adds an entry for the stream, which may reuse the event of a finished entry. NULL if out of
 * memory.
 */
static struct gr_stream_use *append(struct gr_stream_uses *list, CUstream stream, CUcontext of)
{
    if (list->count == room_of(list))
        drop_done(list);
    if (list->count == room_of(list) && !grow(list))
        return NULL;
    struct gr_stream_use *use = &items_of(list)[list->count];
    use->stream = stream;
    use->of = of;
    use->open = 0;
    use->wrote = false;
    use->captures = false;
    set_count(list, list->count + 1);
    return use;
}

static struct gr_stream_use *find_or_append(struct gr_stream_uses *list, CUstream stream,
                                            CUcontext of)
{
    struct gr_stream_use *use = find(list, stream, of);
    return use ? use : append(list, stream, of);
}

void gr_uses_add(struct gr_stream_uses *list, CUstream stream, bool wrote)
{
    GR_LOCKED(&list->lock);
    struct gr_stream_use *use = find_or_append(list, stream, context_of(stream, current_context()));
    if (use) {
        use->wrote = use->wrote || wrote;
        record(use);
    } else {
        gr_event_poll(NULL, stream, GR_WAIT_FOREVER);
    }
}

bool gr_uses_open(struct gr_stream_uses *list, CUstream stream, CUcontext context, bool writes)
{
    stream = gr_stream_for_any_thread(stream);
    GR_LOCKED(&list->lock);
    struct gr_stream_use *use = find_or_append(list, stream, context_of(stream, context));
    if (use) {
        use->open++;
        use->wrote = use->wrote || writes;
    }
    return use;
}

void gr_uses_close(struct gr_stream_uses *list, CUstream stream, CUcontext context, bool alive)
{
    stream = gr_stream_for_any_thread(stream);
    GR_LOCKED(&list->lock);
    struct gr_stream_use *use = find(list, stream, context_of(stream, context));
    if (use && use->open) {
        use->open--;
        if (alive)
            record(use);
    }
}

CUresult gr_uses_wait(struct gr_stream_uses *list, CUstream stream, bool wrote_only)
{
    CUcontext of = context_of(stream, current_context());
    CUresult result = CUDA_SUCCESS;
    GR_LOCKED(&list->lock);
    struct gr_stream_use *items = items_of(list);
    for (size_t i = 0; i < list->count && result == CUDA_SUCCESS; i++) {
        if (is_same(&items[i], stream, of) || (wrote_only && !items[i].wrote))
            continue;
        if (items[i].open || items[i].captures)
            record(&items[i]);
        if (items[i].captures)
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        else if (items[i].event)
            result = gr_driver()->StreamWaitEvent(stream, items[i].event, 0);
    }
    return result;
}

/* Moves an entry to another list. Waits for the work if there is no memory for the entry. */
static void move_one(struct gr_stream_use *use, struct gr_stream_uses *to)
{
    struct gr_stream_use *other = append(to, use->stream, use->of);
    if (!other) {
        if (use->event)
            gr_event_finish(use->event);
        return;
    }
    struct gr_stream_use old = *other;
    *other = *use;
    other->open = 0;
    use->event = old.event; /* the event is reused, or freed with its list */
    use->context = old.context;
}

void gr_uses_move(struct gr_stream_uses *list, struct gr_stream_uses *to)
{
    gr_lock(&list->lock);
    gr_lock(&to->lock);
    for (size_t i = 0; i < list->count; i++)
        move_one(&items_of(list)[i], to);
    set_count(list, 0);
    gr_unlock(&to->lock);
    gr_unlock(&list->lock);
}

bool gr_uses_only(struct gr_stream_uses *list, CUstream stream)
{
    CUcontext of = context_of(stream, current_context());
    GR_LOCKED(&list->lock);
    drop_done(list);
    size_t others = 0;
    for (size_t i = 0; i < list->count; i++)
        others += items_of(list)[i].stream != stream || items_of(list)[i].of != of;
    return !others;
}

bool gr_uses_done(struct gr_stream_uses *list)
{
    GR_LOCKED(&list->lock);
    drop_done(list);
    return !list->count;
}

bool gr_uses_capture(struct gr_stream_uses *list)
{
    bool captures = false;
    GR_LOCKED(&list->lock);
    struct gr_stream_use *items = items_of(list);
    for (size_t i = 0; i < list->count; i++) {
        if (items[i].captures)
            record(&items[i]);
        captures = captures || items[i].captures;
    }
    return captures;
}

bool gr_uses_follows(const struct gr_stream_uses *list, const struct gr_stream_uses *earlier)
{
    const struct gr_stream_use *a = list->items ? list->items : list->first;
    const struct gr_stream_use *b = earlier->items ? earlier->items : earlier->first;
    return list->count == 1 && earlier->count == 1 && !b->captures && is_same(a, b->stream, b->of);
}

void gr_uses_clear(struct gr_stream_uses *list)
{
    GR_LOCKED(&list->lock);
    set_count(list, 0);
}

void gr_uses_free(struct gr_stream_uses *list, bool alive)
{
    struct gr_stream_use *items = items_of(list);
    for (size_t i = 0; i < room_of(list) && alive; i++)
        if (items[i].event)
            gr_driver()->EventDestroy(items[i].event);
    free(list->items);
    gr_lock_end(&list->lock);
    gr_uses_init(list, list->lock.kind);
}
