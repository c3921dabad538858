/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The list of deferred deletions, and the OpenGL objects that grinterop creates. */
#include "gl/context/context.h"

#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gl_deferred *parked;

void gl_deferred_add(struct gl_deferred *left)
{
    GR_LOCKED(&lock);
    left->next = parked;
    __atomic_store_n(&parked, left, __ATOMIC_RELEASE);
}

/* Whether the entry can end now. `context` is current; if it is a group, one of its contexts is. */
static bool can_end(const struct gl_deferred *left, const struct gl_context *context)
{
    return left->context.group || context->group ? gl_context_is_current(&left->context)
                                                 : gl_context_same(&left->context, context);
}

/*
 * Removes all entries of the context from the list at once, because ending an entry may call this
 * function again.
 */
static struct gl_deferred *take_all(const struct gl_context *context)
{
    struct gl_deferred *mine = NULL;
    if (!__atomic_load_n(&parked, __ATOMIC_ACQUIRE)) /* the usual case: nothing is deferred */
        return NULL;
    GR_LOCKED(&lock);
    for (struct gl_deferred **link = &parked; *link;) {
        struct gl_deferred *left = *link;
        if (!can_end(left, context)) {
            link = &left->next;
            continue;
        }
        __atomic_store_n(link, left->next, __ATOMIC_RELEASE);
        left->next = mine;
        mine = left;
    }
    return mine;
}

void gl_deferred_run(const struct gl_context *context)
{
    struct gl_deferred *mine = take_all(context);
    while (mine) {
        struct gl_deferred *left = mine;
        mine = left->next;
        left->end(left);
    }
}

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

struct gl_names *gl_names_make(const struct gl_context *context, const char *call)
{
    struct gl_names *names = calloc(1, sizeof(*names));
    if (!names)
        gr_fail_memory(call);
    else
        names->left.context = *context;
    return names;
}

/* Deletes the objects. If a name is not 0, its extension exists. */
static void delete_names(struct gl_deferred *left)
{
    struct gl_names *names = (struct gl_names *)left;
    if (names->buffer)
        glDeleteBuffers(1, &names->buffer);
    if (names->texture)
        glDeleteTextures(1, &names->texture);
    if (names->memory)
        glDeleteMemoryObjectsEXT(1, &names->memory);
    for (size_t i = 0; i < 2; i++)
        if (names->semaphores[i])
            glDeleteSemaphoresEXT(1, &names->semaphores[i]);
    if (names->fence)
        glDeleteSync(names->fence);
    for (int i = 0; i < GL_OLDER_FENCES; i++)
        if (names->older[i])
            glDeleteSync(names->older[i]);
    if (names->after)
        names->after(names->of_after);
    free(names);
}

void gl_names_end(struct gl_names *names)
{
    if (!names)
        return;
    names->left.end = delete_names;
    if (gl_context_is_current(&names->left.context))
        delete_names(&names->left);
    else
        gl_deferred_add(&names->left);
}
