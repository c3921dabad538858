/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The list of deferred deletions, and the OpenGL objects that grinterop creates. */
#include "gl/context/context.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "gl/context/object_label.h"

static struct gr_lock lock = GR_LOCK(PARKED_OBJECTS);
static _Atomic(struct gl_deferred *) parked;

void gl_deferred_add(struct gl_deferred *left)
{
    if (gl_context_is_gone(&left->context)) {
        left->end(left, false);
        return;
    }
    GR_LOCKED(&lock);
    struct gl_deferred *first = parked;
    while (first && !gl_context_same(&first->context, &left->context))
        first = first->next;
    left->other = first ? first->other : NULL;
    if (first) {
        first->other = left;
        return;
    }
    left->next = parked;
    atomic_store_explicit(&parked, left, memory_order_release);
}

/* Whether the entry can end now. `context` is current; if it is a group, one of its contexts is. */
static bool can_end(const struct gl_deferred *left, const struct gl_context *context)
{
    return left->context.group || context->group ? gl_context_is_current(&left->context)
                                                 : gl_context_same(&left->context, context);
}

/*
 * Removes all entries of a context, this one or one that is gone, from the list at once, because
 * ending an entry may call this function again. NULL: none of the rest can end.
 */
static struct gl_deferred *take(const struct gl_context *context, bool *current)
{
    /* the usual case: nothing is deferred */
    if (!atomic_load_explicit(&parked, memory_order_acquire))
        return NULL;
    GR_LOCKED(&lock);
    for (_Atomic(struct gl_deferred *) *link = &parked; *link; link = &(*link)->next) {
        struct gl_deferred *first = *link;
        *current = context && can_end(first, context);
        if (!*current && !gl_context_is_gone(&first->context))
            continue;
        atomic_store_explicit(link, first->next, memory_order_release);
        return first;
    }
    return NULL;
}

void gl_deferred_run(const struct gl_context *context)
{
    struct gl_deferred *left;
    bool current;
    while ((left = take(context, &current)))
        while (left) {
            struct gl_deferred *other = left->other;
            left->end(left, current);
            left = other;
        }
}

static _Atomic(void (*)(void)) after_context;

void gl_after_context(void (*collect)(void))
{
    atomic_store(&after_context, collect);
}

void gl_context_ended(void)
{
    void (*collect)(void) = atomic_load(&after_context);
    if (collect)
        collect();
    gl_deferred_run(NULL);
}

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

struct gl_names *gl_names_make(const struct gl_context *context)
{
    struct gl_names *names = gr_check_memory(calloc(1, sizeof(*names)));
    if (names)
        names->left.context = *context;
    return names;
}

/*
 * If a name is not 0, its extension exists. The name of an object that the application has deleted
 * may belong to another object.
 */
static void delete_objects(struct gl_names *names)
{
    if (names->buffer && gl_label_holds(&names->label, GL_BUFFER, names->buffer))
        glDeleteBuffers(1, &names->buffer);
    if (names->texture && gl_label_holds(&names->label, GL_TEXTURE, names->texture))
        glDeleteTextures(1, &names->texture);
    if (names->memory)
        glDeleteMemoryObjectsEXT(1, &names->memory);
    for (size_t i = 0; i < 2; i++)
        if (names->semaphores[i])
            glDeleteSemaphoresEXT(1, &names->semaphores[i]);
    for (int i = 0; i < GL_FENCES; i++)
        if (names->fences[i])
            glDeleteSync(names->fences[i]);
}

static void end_names(struct gl_deferred *left, bool current)
{
    struct gl_names *names = (struct gl_names *)left;
    if (current)
        delete_objects(names);
    if (names->after)
        names->after(names->of_after, current);
    free(names);
}

void gl_names_end(struct gl_names *names)
{
    if (!names)
        return;
    names->left.end = end_names;
    if (gl_context_is_current(&names->left.context))
        end_names(&names->left, true);
    else
        gl_deferred_add(&names->left);
}
