/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Objects that are destroyed together with their context, in one list per kind. */
#ifndef GR_SOFTCUDA_DRIVER_OWNED_H
#define GR_SOFTCUDA_DRIVER_OWNED_H

#include "softcuda/driver/soft.h"

/* A member of the struct of each object. */
typedef struct soft_owned {
    soft_context *context;
    void *handle;
    struct soft_owned *next; /* the next object in its list */
} soft_owned;

typedef struct {
    enum soft_kind kind;
    /* Destroys an object whose handle was dropped; must call soft_owned_remove. */
    void (*end)(void *object);
    pthread_mutex_t lock;
    soft_owned *first;
} soft_owned_list;

/* Adds an object whose context and handle are set. */
void soft_owned_add(soft_owned_list *list, soft_owned *owned);

/*
 * Called after the handle of the object was dropped. No effect on an object that was never added.
 */
void soft_owned_remove(soft_owned_list *list, const soft_owned *owned);

/*
 * Destroys all objects of a context. If another thread has already dropped the handle of an object,
 * that thread destroys the object.
 */
void soft_owned_end_all(soft_owned_list *list, const soft_context *context);

/* Defines the list of a file, whose objects end_one() destroys together with their context. */
#define SOFT_OWNED_LIST(list, list_kind, end_one)                                                  \
    static void end_one(void *object);                                                             \
    static soft_owned_list list = {                                                                \
        .kind = list_kind, .end = end_one, .lock = PTHREAD_MUTEX_INITIALIZER};                     \
    static void end_##list(soft_context *context)                                                  \
    {                                                                                              \
        soft_owned_end_all(&list, context);                                                        \
    }                                                                                              \
    SOFT_AT_CONTEXT_END(end_##list)

#endif
