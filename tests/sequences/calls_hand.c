/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Objects that one thread creates and another thread uses or frees, as a garbage collector does:
 * tensors, OpenGL resources, and mapped buffers. The OpenGL context is not current on the other
 * thread. The objects leave the model of the creating thread. The other thread makes only the calls
 * of this file on them.
 */
#include "calls.h"

#include "outside.h"

#include <pthread.h>
#include <string.h>

#define SHELF 16

struct handed {
    enum { NOTHING, RESOURCE, BUFFER, TENSOR } what;
    void *it;
    unsigned thread; /* the thread that created it */
};

static struct handed shelf[SHELF];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- The shelf ------------------------------------------------------------------------------- */

static bool put(struct world *w, const struct handed *item)
{
    bool done = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SHELF && !done; i++)
        if (shelf[i].what == NOTHING) {
            shelf[i] = *item;
            done = true;
        }
    pthread_mutex_unlock(&lock);
    w->handed = w->handed || done;
    return done;
}

/*
 * Takes an object that another thread has put into `shelf`. With `any`, takes an object of any
 * thread, including this one.
 */
static struct handed take(const struct world *w, bool any)
{
    struct handed item = {NOTHING, NULL, 0};
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SHELF && item.what == NOTHING; i++)
        if (shelf[i].what != NOTHING && (any || shelf[i].thread != w->thread)) {
            item = shelf[i];
            shelf[i].what = NOTHING;
        }
    pthread_mutex_unlock(&lock);
    return item;
}

/* ---- Handing over ---------------------------------------------------------------------------- */

/* Whether grinterop owns the OpenGL object, and nothing else refers to the resource. */
static bool is_unreferenced(const struct resource *r)
{
    return r && !r->gone && !r->begun && !r->ring && !r->later && !r->kept &&
           r->object == &r->own && !r->own.of && !r->own.deleted;
}

bool run_hand_resource(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (w->alone || !is_unreferenced(r) || r->life != LIVE || r->mapped || r->out)
        return false;
    if (!put(w, &(struct handed){RESOURCE, r->it, w->thread}))
        return false;
    r->life = ENDED;
    r->used = false;
    return true;
}

/* Hands over a buffer whose resource is freed, so that only the buffer keeps the resource alive. */
bool run_hand_buffer(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    struct resource *r = b && b->life == LIVE ? b->resource : NULL;
    if (w->alone || !is_unreferenced(r) || r->mapped != b || r->out != 1 || tensors_of(w, r))
        return false;
    if (!put(w, &(struct handed){BUFFER, b->it, w->thread}))
        return false;
    if (r->life == LIVE)
        gr_resource_free(r->it);
    r->life = b->life = ENDED;
    r->mapped = NULL;
    r->used = false;
    return true;
}

bool run_hand_tensor(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[0]);
    if (w->alone || !t || t->life != LIVE || t->base || t->resource || t->bytes != t->own ||
        drawn_by(w, t))
        return false;
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].used && w->tensors[i].base == t)
            return false;
    for (int i = 0; i < EXPORTS; i++)
        if (w->exports[i].life == LIVE && w->exports[i].tensor == t)
            return false;
    if (!put(w, &(struct handed){TENSOR, t->it, w->thread}))
        return false;
    t->life = ENDED;
    t->used = false;
    return true;
}

/* ---- The other thread ------------------------------------------------------------------------ */

static void end_resource(struct world *w, gr_resource *resource)
{
    char text[8];
    must(w, gr_resource_describe(resource, text, sizeof(text)) > 0);
    must(w, !gr_resource_get_info(resource)->mapped);
    gr_resource_free(resource);
}

static void end_buffer(struct world *w, gr_buffer *buffer)
{
    must(w, gr_buffer_get_info(buffer)->stream);
    gr_buffer_release_later(buffer);
}

static void end_tensor(struct world *w, gr_tensor *tensor)
{
    unsigned char bytes[MOST_BYTES];
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    must(w, info && info->bytes <= sizeof(bytes));
    int before = w->cuda;
    use_cuda(w, 0);
    if (w->streams[0].life == LIVE)
        judge(w, gr_tensor_copy_to_host(tensor, bytes, info->bytes, w->streams[0].it), 0);
    use_cuda(w, before);
    gr_tensor_free(tensor);
}

static bool end_one(struct world *w, bool any)
{
    struct handed item = take(w, any);
    if (item.what == NOTHING)
        return false;
    gr_clear_error();
    if (item.what == RESOURCE)
        end_resource(w, item.it);
    else if (item.what == BUFFER)
        end_buffer(w, item.it);
    else
        end_tensor(w, item.it);
    judge(w, gr_last_error()->status, 0);
    return true;
}

bool run_take_handed(struct world *w, const int *a)
{
    (void)a;
    return !w->alone && end_one(w, false);
}

void hand_end_all(struct world *w)
{
    while (end_one(w, true))
        continue;
}
