/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates, imports and destroys semaphores. */
#include "lib/sync/sync.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/base/live_objects.h"
#include "lib/base/struct_size.h"
#include "lib/base/lock.h"

gr_status gr_semaphore_init(gr_semaphore *semaphore, const struct gr_semaphore_ops *ops,
                            const struct gr_context *context, bool timeline, uint64_t value)
{
    if (!gr_lock_init(&semaphore->lock, GR_LOCK_SEMAPHORE))
        return gr_fail_memory();
    gr_uses_init(&semaphore->uses, GR_LOCK_STREAM_USES);
    semaphore->ops = ops;
    semaphore->holds = 1;
    semaphore->context = *context;
    semaphore->timeline = semaphore->info.timeline = timeline;
    semaphore->signalled = value;
    gr_live_add(GR_LIVE_HELD_SEMAPHORE, semaphore);
    return GR_OK;
}

static void describe_imported(const gr_semaphore *semaphore, char *text, size_t size)
{
    snprintf(text, size, "external semaphore %s", gr_semaphore_type_name(semaphore->type));
}

static void destroy_imported(gr_semaphore *semaphore)
{
    gr_live_free_memory(GR_LIVE_SEMAPHORE, semaphore);
}

static const struct gr_semaphore_ops imported_ops = {
    .wait = gr_semaphore_wait_imported,
    .signal = gr_semaphore_signal_imported,
    .describe = describe_imported,
    .destroy = destroy_imported,
};

gr_status gr_semaphore_make(gr_semaphore *semaphore, const struct gr_context *context,
                            const gr_semaphore_desc *info, const struct gr_semaphore_ops *ops)
{
    gr_entered entered;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc;
    GR_TRY(gr_semaphore_check(info));
    GR_TRY(gr_semaphore_init(semaphore, ops ? ops : &imported_ops, context,
                             gr_semaphore_type_counts(info->type), info->value));
    semaphore->type = info->type;
    gr_endings_collect();
    gr_semaphore_handle_desc(info, &desc);
    gr_status status = gr_context_enter(context, &entered);
    if (status != GR_OK)
        goto fail;
    CUresult result = gr_driver()->ImportExternalSemaphore(&semaphore->handle, &desc);
    if (result != CUDA_SUCCESS)
        status = gr_semaphore_refused(info, result);
    gr_context_leave(entered);
    if (status == GR_OK) {
        semaphore->info.external = semaphore->handle;
        return GR_OK;
    }
fail:
    gr_live_remove(GR_LIVE_HELD_SEMAPHORE, semaphore);
    gr_uses_free(&semaphore->uses, false);
    gr_lock_end(&semaphore->lock);
    return status;
}

gr_semaphore *gr_semaphore_from_handle(const gr_semaphore_desc *desc)
{
    GR_CALL();
    struct gr_context context;
    gr_semaphore_desc own;
    if (!desc)
        return gr_null(gr_fail(GR_ERR_INVALID_VALUE, "`desc` is NULL: describe the semaphore."));
    if (GR_TAKE(gr_semaphore_desc, &own, desc) != GR_OK || !gr_driver_load() ||
        gr_context_choose(&context, gr_device_first) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = gr_check_memory(calloc(1, sizeof(*semaphore)));
    if (!semaphore || gr_semaphore_make(semaphore, &context, &own, NULL) != GR_OK)
        goto fail;
    gr_live_add(GR_LIVE_SEMAPHORE, semaphore);
    return semaphore;
fail:
    free(semaphore);
    gr_context_drop(&context);
    return NULL;
}

static void end(struct gr_ending *ending, bool alive)
{
    gr_semaphore *semaphore = (gr_semaphore *)((char *)ending - offsetof(gr_semaphore, ending));
    const struct gr_driver_api *cu = gr_driver();
    if (alive && semaphore->handle)
        cu->DestroyExternalSemaphore(semaphore->handle);
    gr_work_end(&semaphore->passed, alive);
    gr_uses_free(&semaphore->uses, alive);
    gr_lock_end(&semaphore->lock);
    semaphore->ops->destroy(semaphore);
}

/*
 * Drops a reference. cuDestroyExternalSemaphore requires that all signals and waits are done.
 * Resources and rings keep a reference until their signals and waits are done. But signals and
 * waits that the program enqueued may still be in streams.
 */
void gr_semaphore_drop(gr_semaphore *semaphore)
{
    if (gr_semaphore_is_none(semaphore) ||
        atomic_fetch_sub_explicit(&semaphore->holds, 1, memory_order_acq_rel) > 1)
        return;
    GR_KEEP_ERROR();
    GR_RELAXED();
    gr_live_remove(GR_LIVE_HELD_SEMAPHORE, semaphore);
    semaphore->ending =
        (struct gr_ending){.context = semaphore->context, .uses = &semaphore->uses, .end = end};
    gr_ending_start(&semaphore->ending);
}

void gr_semaphore_end_use(gr_semaphore *semaphore)
{
    if (semaphore)
        atomic_fetch_sub_explicit(&semaphore->users, 1, memory_order_relaxed);
    gr_semaphore_drop(semaphore);
}

void gr_semaphore_free(gr_semaphore *semaphore)
{
    GR_CALL();
    if (gr_semaphore_is_none(semaphore) || !gr_live_end(GR_LIVE_SEMAPHORE, semaphore))
        return;
    GR_NO_STATUS();
    (semaphore->ops->free ? semaphore->ops->free : gr_semaphore_drop)(semaphore);
    gr_endings_collect();
}

const gr_semaphore_info *gr_semaphore_get_info(const gr_semaphore *semaphore)
{
    GR_CALL();
    if (!gr_semaphore_is_none(semaphore))
        return gr_semaphore_check_given(semaphore) == GR_OK ? &semaphore->info : NULL;
    return gr_null(gr_fail(GR_ERR_INVALID_VALUE, "There is no semaphore: did its creation fail?"));
}

int gr_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size)
{
    GR_CALL();
    if (!text)
        size = 0;
    if (gr_semaphore_is_none(semaphore))
        return snprintf(text, size, "no semaphore (%s)", semaphore ? "GR_SEMAPHORE_NONE" : "NULL");
    if (gr_forked) /* another thread of the parent may have held the lock */
        return snprintf(text, size, "a semaphore of the parent process");
    if (gr_semaphore_check_given(semaphore) != GR_OK)
        return snprintf(text, size, "no semaphore (it was freed)");
    char what[128];
    semaphore->ops->describe(semaphore, what, sizeof(what));
    uint64_t value = gr_semaphore_last(semaphore);
    return snprintf(text, size, "%s, %s %llu%s", what,
                    semaphore->timeline ? "last value" : "signals", (unsigned long long)value,
                    gr_driver_traits()->note);
}

void gr_semaphore_describe_wait(const gr_semaphore *semaphore, char *text, size_t size)
{
    char what[200], present[60] = "";
    uint64_t now;
    *text = '\0';
    if (gr_semaphore_is_none(semaphore))
        return;
    gr_semaphore_describe(semaphore, what, sizeof(what));
    if (semaphore->ops->value && semaphore->ops->value(semaphore, &now))
        snprintf(present, sizeof(present), ", present value %llu", (unsigned long long)now);
    snprintf(text, size, " It may wait for this: %s%s.", what, present);
}
