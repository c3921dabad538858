/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tensors through DLPack: exports, as another framework would hold them, their deleters, and
 * imports. An export and its import share memory.
 */
#include "calls.h"

#if !defined(GR_WITHOUT_DLPACK)
#include <dlpack/dlpack.h>

static struct export *export_at(struct world *w, int place)
{
    return place >= 0 && place < EXPORTS ? &w->exports[place] : NULL;
}

/* ---- Exports --------------------------------------------------------------------------------- */

/*
 * Whether the consumer's stream is valid: a stream of the primary context, NULL, or GR_STREAM_NONE.
 */
static bool is_consumer_valid(const struct world *w, int choice)
{
    bool ours = choice < STREAMS && w->streams[choice].life == LIVE && !w->streams[choice].cuda;
    return w->cuda != 1 && (ours || choice == STREAM_NULL || choice == STREAM_NONE);
}

static bool is_exported(struct world *w, struct tensor *t, struct export *x, void *made, bool old,
                        unsigned may)
{
    if (judge_made(w, made, may))
        *x = (struct export){.life = LIVE, .it = made, .old = old, .tensor = t};
    return true;
}

static bool run_export(struct world *w, const int *a, bool old)
{
    struct tensor *t = tensor_at(w, a[0]);
    struct export *x = export_at(w, a[2]);
    if (x->life == LIVE || !is_tensor_valid(w, t) || !is_consumer_valid(w, a[1]))
        return false;
    unsigned may = a[1] == STREAM_NULL ? MAY(GR_ERR_INVALID_VALUE) : 0;
    if (!t || t->life != LIVE)
        may |= MAY(GR_ERR_INVALID_VALUE);
    else if (t->revoked || (old && t->read_only))
        may |= MAY(GR_ERR_STATE);
    void *made = gr_tensor_to_dlpack(t ? t->it : NULL, old ? GR_DLPACK_LEGACY : GR_DLPACK_VERSIONED,
                                     stream_at(w, a[1]));
    return is_exported(w, t, x, made, old, may);
}

bool run_gr_tensor_to_dlpack(struct world *w, const int *a)
{
    return run_export(w, a, false);
}

bool run_gr_tensor_to_dlpack_legacy(struct world *w, const int *a)
{
    return run_export(w, a, true);
}

static void check_export(struct world *w, const struct export *x)
{
    const DLManagedTensor *old = x->it;
    const DLManagedTensorVersioned *now = x->it;
    const DLTensor *described = x->old ? &old->dl_tensor : &now->dl_tensor;
    must(w, described->ndim == 1 && described->shape[0] == (int64_t)x->tensor->size);
    must(w, described->dtype.code == kDLUInt && described->dtype.bits == 8);
    must(w, x->old || !(now->flags & DLPACK_FLAG_BITMASK_READ_ONLY) == !x->tensor->read_only);
}

void export_end(struct world *w, struct export *x)
{
    DLManagedTensor *old = x->it;
    DLManagedTensorVersioned *now = x->it;
    if (x->tensor->resource && x->tensor->resource->kept)
        judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0);
    check_export(w, x);
    if (x->old)
        old->deleter(old);
    else
        now->deleter(now);
    export_is_ended(w, x);
}

/*
 * The consumer calls the deleter of an export. If the export was imported, freeing the import calls
 * the deleter.
 */
bool run_dlpack_end(struct world *w, const int *a)
{
    struct export *x = export_at(w, a[0]);
    if (!x || x->life != LIVE || x->taken)
        return false;
    export_end(w, x);
    return true;
}

/* ---- Imports --------------------------------------------------------------------------------- */

/*
 * Imports a view of the exported tensor. Like the export, the import does not outlive the mapping.
 */
static bool import(struct world *w, const int *a, bool old)
{
    struct export *x = export_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[2]);
    CUstream ready = stream_at(w, a[1]);
    if (t->used || !is_consumer_valid(w, a[1]) || (x && x->life != LIVE) ||
        (x && (x->old != old || x->tensor->resource)))
        return false;
    unsigned may = !x || x->taken || a[1] == STREAM_NULL ? MAY(GR_ERR_INVALID_VALUE) : 0;
    gr_tensor *made = gr_tensor_from_dlpack(x ? x->it : NULL,
                                            old ? GR_DLPACK_LEGACY : GR_DLPACK_VERSIONED, ready);
    if (!judge_made(w, made, may))
        return true;
    *t = (struct tensor){.life = LIVE, .it = made, .used = true, .whole = true};
    t->size = x->tensor->size;
    t->bytes = x->tensor->bytes;
    t->memory = x->tensor->memory;
    t->read_only = !old && x->tensor->read_only;
    t->base = x->tensor;
    t->import_of = x;
    x->taken = true;
    return true;
}

bool run_gr_tensor_from_dlpack(struct world *w, const int *a)
{
    return import(w, a, false);
}

bool run_gr_tensor_from_dlpack_legacy(struct world *w, const int *a)
{
    return import(w, a, true);
}

#else

void export_end(struct world *w, struct export *x)
{
    (void)w;
    (void)x;
}

#endif
