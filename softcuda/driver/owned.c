/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lists of the objects that are destroyed with their context. */
#include "softcuda/driver/owned.h"

void soft_owned_add(soft_owned_list *list, soft_owned *owned)
{
    SOFT_LOCK(&list->lock);
    owned->next = list->first;
    list->first = owned;
}

void soft_owned_remove(soft_owned_list *list, const soft_owned *owned)
{
    SOFT_LOCK(&list->lock);
    soft_owned **at = &list->first;
    while (*at && *at != owned)
        at = &(*at)->next;
    if (*at)
        *at = owned->next;
}

/* Returns the handle instead of the object, because another thread may free the object now. */
static void *next_of_context(soft_owned_list *list, const soft_context *context)
{
    SOFT_LOCK(&list->lock);
    const soft_owned *owned = list->first;
    while (owned && owned->context != context)
        owned = owned->next;
    return owned ? owned->handle : NULL;
}

void soft_owned_end_all(soft_owned_list *list, const soft_context *context)
{
    void *handle;
    while ((handle = next_of_context(list, context))) {
        void *object = soft_handle_drop(list->kind, handle);
        if (object)
            list->end(object);
    }
}
