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
#include "lib/resource/stream.h"
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

/* Takes `also`, which may be NULL, and what belongs to destroyed contexts out of the list. */
static struct kept *take(const struct kept *also)
{
    struct kept *taken = NULL, **link = &all;
    GR_LOCKED(&lock);
    while (*link) {
        struct kept *k = *link;
        if (k != also && !gl_context_is_gone(&k->context) &&
            !gr_context_is_gone(&k->staging->context)) {
            link = &k->next;
            continue;
        }
        *link = k->next;
        k->next = taken;
        taken = k;
    }
    return taken;
}

static void end(const struct kept *also)
{
    struct kept *next;
    GR_KEEP_ERROR();
    for (struct kept *k = take(also); k; k = next) {
        next = k->next;
        gr_resource_drop(k->staging);
        free(k);
    }
}

static void collect(void)
{
    end(NULL);
}

/*
 * Finds what the OpenGL context keeps for the CUDA context. It stays in the list: no other thread
 * finds it while the OpenGL context is current here.
 */
static struct kept *find(const struct gl_context *context, const struct gr_context *cuda)
{
    GR_LOCKED(&lock);
    struct kept *k = all;
    while (k && !(gl_context_identical(&k->context, context) &&
                  gr_context_same(&k->staging->context, cuda)))
        k = k->next;
    return k;
}

static struct kept *make(const struct gl_context *context, size_t size)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .in_flight = IN_FLIGHT);
    struct kept *k = gr_check_memory(calloc(1, sizeof(*k)));
    if (!k)
        return NULL;
    k->context = *context;
    k->staging = gr_create_gl_buffer(size, GR_READ_ONLY, &options);
    if (!k->staging) {
        free(k);
        return NULL;
    }
    if (context->computes) /* the shader looks for the label */
        gl_object_label_staging(k->staging);
    gr_live_remove(GR_LIVE_RESOURCE, k->staging); /* the application does not own it */
    gl_after_context(collect);
    GR_LOCKED(&lock);
    k->next = all;
    all = k;
    return k;
}

gr_resource *gl_kept_staging(const struct gl_context *context, size_t size, CUstream stream)
{
    struct gr_context cuda;
    if (gr_context_choose(&cuda, gl_find_drawing_device) != GR_OK)
        return NULL;
    struct kept *k = find(context, &cuda);
    gr_context_drop(&cuda);
    /* it stays mapped if its release failed, which is retried as long as it lives */
    if (k && k->staging->mapped)
        gr_resource_collect(k->staging);
    if (!k || k->staging->mapped || k->staging->size < size) {
        if (gr_stream_check(NULL, stream, false) != GR_OK)
            return NULL;
        end(k);
        k = make(context, size);
    }
    return k ? k->staging : NULL;
}
