/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * To create a staging buffer takes 1 ms on an H100. So a context keeps one resource. In OpenGL of
 * NVIDIA it has four staging buffers, which OpenGL fills in turn while CUDA still reads earlier
 * ones. In Mesa, where in_flight does not work, it is one shared buffer.
 */
#include "gl/framebuffer/framebuffer.h"

#include <stdlib.h>

#include <grinterop/gl.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "gl/object/object.h"

#define IN_FLIGHT 4

/* What an OpenGL context keeps for a CUDA context. */
struct kept {
    struct kept *next;
    struct gl_context context;
    gr_resource *staging;
};

static struct gr_lock lock = GR_LOCK(KEPT_STAGING); /* protects the list */
static struct kept *all;

/* Takes what belongs to a destroyed context out of the list. */
static struct kept *take_gone(void)
{
    struct kept *gone = NULL, **link = &all;
    GR_LOCKED(&lock);
    while (*link) {
        struct kept *k = *link;
        if (!gl_context_is_gone(&k->context) && !gr_context_is_gone(&k->staging->context)) {
            link = &k->next;
            continue;
        }
        *link = k->next;
        k->next = gone;
        gone = k;
    }
    return gone;
}

static void end(struct kept *k)
{
    GR_KEEP_ERROR();
    gr_resource_drop(k->staging);
    free(k);
}

static void collect(void)
{
    struct kept *next;
    for (struct kept *k = take_gone(); k; k = next) {
        next = k->next;
        end(k);
    }
}

/* Takes what the OpenGL context keeps for the CUDA context out of the list, so that it is ours. */
static struct kept *take(const struct gl_context *context, const struct gr_context *cuda)
{
    struct kept **link = &all;
    GR_LOCKED(&lock);
    while (*link && !(gl_context_identical(&(*link)->context, context) &&
                      gr_context_same(&(*link)->staging->context, cuda)))
        link = &(*link)->next;
    struct kept *k = *link;
    if (k)
        *link = k->next;
    return k;
}

static void put(struct kept *k)
{
    GR_LOCKED(&lock);
    k->next = all;
    all = k;
}

static struct kept *make(const struct gl_context *context, size_t size, const char *call)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .in_flight = IN_FLIGHT);
    struct kept *k = gr_check_memory(calloc(1, sizeof(*k)), call);
    if (!k)
        return NULL;
    k->context = *context;
    k->staging = gr_create_gl_buffer(size, GR_READ_ONLY, &options);
    if (k->staging) {
        if (context->computes) /* the shader looks for the label */
            gl_object_label_staging(k->staging);
        gr_live_remove(GR_LIVE_RESOURCE, k->staging); /* the application does not own it */
        gl_after_context(collect);
        return k;
    }
    free(k);
    return NULL;
}

gr_resource *gl_kept_staging(const struct gl_context *context, size_t size, const char *call)
{
    struct gr_context cuda;
    if (gr_context_choose(&cuda, gl_find_drawing_device, call) != GR_OK)
        return NULL;
    struct kept *k = take(context, &cuda);
    gr_context_drop(&cuda);
    if (k)
        gr_resource_collect(k->staging);
    /* it stays mapped if its release failed, which is retried as long as it lives */
    if (k && (k->staging->mapped || k->staging->size < size)) {
        end(k);
        k = NULL;
    }
    if (!k) {
        collect();
        k = make(context, size, call);
    }
    if (!k)
        return NULL;
    put(k);
    return k->staging;
}
