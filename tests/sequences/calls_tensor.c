/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One-dimensional byte tensors: tensors with allocated memory or memory of the program, tensors of
 * mappings, and views. They belong to the primary CUDA context.
 */
#include "calls.h"

#include "outside.h"

#include <string.h>

/* ---- Arguments ------------------------------------------------------------------------------- */

static unsigned tensor_may(const struct tensor *t)
{
    if (!t || t->life != LIVE)
        return MAY(GR_ERR_INVALID_VALUE);
    return t->revoked ? MAY(GR_ERR_STATE) : 0;
}

/*
 * Whether the stream is one of the primary context or a special stream. GR_STREAM_NONE is accepted
 * by some calls only.
 */
static bool stream_is_ours(const struct world *w, int choice)
{
    if (choice < STREAMS)
        return w->streams[choice].life == LIVE && w->streams[choice].cuda == 0;
    return choice != STREAM_LEGACY && choice != STREAM_PER_THREAD;
}

static unsigned special_may(int choice, bool none_allowed)
{
    bool good = choice < STREAMS || (choice == STREAM_NONE && none_allowed);
    return good ? 0 : MAY(GR_ERR_INVALID_VALUE);
}

static bool can_work(const struct world *w, int choice)
{
    return w->cuda != 1 && stream_is_ours(w, choice);
}

static void is_made(struct world *w, struct tensor *t, gr_tensor *made, size_t size)
{
    (void)w;
    *t = (struct tensor){.life = LIVE, .it = made, .size = size, .used = true, .whole = true};
    t->bytes = t->own;
    for (size_t i = 0; i < MOST_BYTES; i++)
        t->own[i] = UNKNOWN;
}

static void set(struct tensor *t, int value)
{
    for (size_t i = 0; i < t->size; i++)
        t->bytes[i] = (short)value;
}

/* ---- Create ---------------------------------------------------------------------------------- */

static const int64_t shapes[] = {BYTES, BYTES, 64, -1};

bool run_gr_tensor_create(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[3]);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = a[0] % 16 == 0 ? (gr_dtype)0 : GR_DTYPE_U8, .ndim = 1,
                .shape = &shapes[a[0] / 16 % 4], .memory = (gr_memory)a[1],
                .exportable = a[0] % 2 && (!a[1] || a[0] % 32 == 1));
    if (t->used || !can_work(w, a[2]))
        return false;
    bool wrong = !desc.dtype || desc.shape[0] < 0 || (desc.exportable && desc.memory);
    unsigned may = special_may(a[2], true) | (wrong ? MAY(GR_ERR_INVALID_VALUE) : 0);
    gr_tensor *made = gr_tensor_create(&desc, stream_at(w, a[2]));
    if (!judge_made(w, made, may))
        return true;
    is_made(w, t, made, (size_t)desc.shape[0]);
    t->memory = desc.memory;
    t->exportable = desc.exportable;
    return true;
}

/* The deleter of wrapped memory. It runs on any thread that calls grinterop. */
static void note_end(void *user)
{
    struct world *w = user;
    __atomic_fetch_add(&w->wraps_ended, 1, __ATOMIC_RELAXED);
}

/* Wraps host memory of the world, which lives longer than any tensor. */
bool run_gr_tensor_from_memory(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[2]);
    void *data = a[0] % 16 == 0 ? NULL : w->wrapped[a[2]];
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shapes,
                .memory = GR_MEMORY_HOST, .read_only = a[0] % 4 == 1);
    if (t->used || !can_work(w, a[1]))
        return false;
    if (__atomic_load_n(&w->wraps_ended, __ATOMIC_RELAXED) != w->wraps)
        judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0);
    unsigned may = special_may(a[1], true) | (data ? 0 : MAY(GR_ERR_INVALID_VALUE));
    gr_tensor *made = gr_tensor_from_memory(&desc, data, stream_at(w, a[1]), note_end, w);
    if (!judge_made(w, made, may))
        return true;
    is_made(w, t, made, BYTES);
    t->memory = GR_MEMORY_HOST;
    t->read_only = desc.read_only;
    t->wraps = true;
    w->wraps++;
    return true;
}

bool run_gr_buffer_tensor(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    if (t->used || (b && (b->life != LIVE || b->resource->gone || b->stream_ended ||
                          b->resource->cuda != 0 || b->linear_image)))
        return false;
    bool ended = b && b->resource->mapped != b;
    unsigned may = !b ? MAY(GR_ERR_INVALID_VALUE) : 0;
    if (b && (ended || b->resource->image))
        may = MAY(GR_ERR_STATE);
    gr_tensor *made = gr_buffer_tensor(b ? b->it : NULL, NULL);
    if (!judge_made(w, made, may))
        return true;
    is_made(w, t, made, b->size);
    t->resource = b->resource;
    t->mapping = b->mapping;
    t->bytes = bytes_of(b->resource->object) + b->offset;
    t->read_only = b->resource->flags & GR_READ_ONLY;
    return true;
}

/* Creates a view of the lower half of another tensor, or of more bytes than that tensor has. */
bool run_gr_tensor_view(struct world *w, const int *a)
{
    struct tensor *base = tensor_at(w, a[0]), *t = tensor_at(w, a[2]);
    if (t->used || !is_tensor_valid(w, base) || (base && base->size < 8))
        return false;
    bool past = a[1] == 0;
    const int64_t shape = base ? (int64_t)(past ? 4096 : base->size / 2) : 1;
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &shape);
    unsigned may = tensor_may(base) | (past ? MAY(GR_ERR_INVALID_VALUE) : 0);
    gr_tensor *made = gr_tensor_view(tensor_handle(base), &desc);
    if (!judge_made(w, made, may))
        return true;
    is_made(w, t, made, (size_t)shape);
    t->bytes = base->bytes;
    t->base = base;
    t->resource = base->resource;
    t->mapping = base->mapping;
    t->memory = base->memory;
    t->read_only = base->read_only;
    t->exportable = base->exportable;
    return true;
}

static bool has_imports(const struct world *w)
{
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].used && w->tensors[i].import_of)
            return true;
    return false;
}

/*
 * Waits for a copy on that stream, since later work of the program on the mapping must come after
 * the copy. The same applies to memory that graphics draws, and to imports, because the library
 * does not know who owns their memory.
 */
static void finish(struct world *w, const struct tensor *t, int choice)
{
    if (t->resource || drawn_by(w, t) || has_imports(w))
        finish_stream(w, 0, stream_at(w, choice));
}

bool run_gr_tensor_clone(struct world *w, const int *a)
{
    struct tensor *from = tensor_at(w, a[0]), *t = tensor_at(w, a[3]);
    if (t->used || !is_tensor_valid(w, from) || is_drawn(w, from) || !can_work(w, a[2]) ||
        a[2] == STREAM_NONE)
        return false;
    unsigned may = tensor_may(from) | special_may(a[2], false);
    gr_tensor *made = gr_tensor_clone(tensor_handle(from), (gr_memory)a[1], stream_at(w, a[2]));
    if (!judge_made(w, made, may))
        return true;
    is_made(w, t, made, from->size);
    t->memory = (gr_memory)a[1];
    finish(w, from, a[2]);
    memcpy(t->own, from->bytes, from->size * sizeof(*t->own));
    return true;
}

/* ---- Free ------------------------------------------------------------------------------------ */

bool run_gr_tensor_free(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[0]);
    if (!is_tensor_valid(w, t))
        return false;
    gr_clear_error();
    gr_tensor_free(tensor_handle(t));
    bool wrong = t && t->life != LIVE;
    judge(w, gr_last_error()->status, wrong ? MAY(GR_ERR_INVALID_VALUE) : 0);
    if (!t || wrong)
        return true;
    /* Waits for the streams, so that the model knows when the mapping is released. */
    if (t->resource && t->resource->kept)
        judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0);
    tensor_is_freed(w, t);
    return true;
}

bool run_gr_tensor_collect(struct world *w, const int *a)
{
    unsigned may = a[0] ? 0 : MAY(GR_OK) | MAY(GR_ERR_NOT_READY);
    if (judge(w, gr_tensor_collect(a[0] ? GR_WAIT_FOREVER : 0), may))
        collect_freed(w);
    return true;
}

/* ---- Queries and order ----------------------------------------------------------------------- */

bool run_gr_tensor_get_info(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[0]);
    if (!is_tensor_valid(w, t))
        return false;
    const gr_tensor_info *info = gr_tensor_get_info(tensor_handle(t));
    if (!judge_made(w, info, !t || t->life != LIVE ? MAY(GR_ERR_INVALID_VALUE) : 0))
        return true;
    must(w, info->revoked == t->revoked && info->bytes == t->size && info->memory == t->memory);
    must(w, info->read_only == t->read_only && (t->revoked ? !info->ptr : info->ndim == 1));
    return true;
}

static bool run_order(struct world *w, const int *a, bool is_use)
{
    struct tensor *t = tensor_at(w, a[0]);
    gr_tensor *it = tensor_handle(t);
    if (!is_tensor_valid(w, t) || !can_work(w, a[1]) || a[1] == STREAM_NONE)
        return false;
    CUstream stream = stream_at(w, a[1]);
    judge(w, is_use ? gr_tensor_used_on(it, stream) : gr_tensor_wait(it, stream),
          tensor_may(t) | special_may(a[1], false));
    return true;
}

bool run_gr_tensor_wait(struct world *w, const int *a)
{
    return run_order(w, a, false);
}

bool run_gr_tensor_used_on(struct world *w, const int *a)
{
    return run_order(w, a, true);
}

bool run_gr_tensor_array_interface(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[0]);
    if (!is_tensor_valid(w, t) || !can_work(w, a[1]))
        return false;
    unsigned may = tensor_may(t) | special_may(a[1], true);
    if (t && t->memory == GR_MEMORY_HOST)
        may |= MAY(GR_ERR_UNSUPPORTED);
    const gr_array_interface *fields =
        gr_tensor_array_interface(tensor_handle(t), stream_at(w, a[1]));
    if (judge_made(w, fields, may))
        must(w, fields->data && fields->version == 3 && strcmp(fields->typestr, "|u1") == 0);
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static bool share_memory(const struct tensor *a, const struct tensor *b)
{
    return a && b && a->bytes && b->bytes && a->bytes < b->bytes + MOST_BYTES &&
           b->bytes < a->bytes + MOST_BYTES;
}

bool run_gr_tensor_copy(struct world *w, const int *a)
{
    struct tensor *to = tensor_at(w, a[0]), *from = tensor_at(w, a[1]);
    if (!is_tensor_valid(w, to) || !is_tensor_valid(w, from) || share_memory(to, from) ||
        is_drawn(w, to) || is_drawn(w, from) || !can_work(w, a[2]) || a[2] == STREAM_NONE)
        return false;
    unsigned may = tensor_may(to) | tensor_may(from) | special_may(a[2], false);
    if (to && to->read_only)
        may |= MAY(GR_ERR_STATE);
    if (to && from && to->size != from->size)
        may |= MAY(GR_ERR_INVALID_VALUE);
    if (!judge(w, gr_tensor_copy(tensor_handle(to), tensor_handle(from), stream_at(w, a[2])), may))
        return true;
    finish(w, from, a[2]);
    finish(w, to, a[2]);
    memcpy(to->bytes, from->bytes, to->size * sizeof(*to->bytes));
    if (is_disputed(to))
        set(to, UNKNOWN);
    return true;
}

bool run_gr_tensor_copy_from_host(struct world *w, const int *a)
{
    unsigned char bytes[MOST_BYTES];
    struct tensor *t = tensor_at(w, a[0]);
    if (!is_tensor_valid(w, t) || is_drawn(w, t) || !can_work(w, a[2]) || a[2] == STREAM_NONE)
        return false;
    bool other = a[1] % 16 == 0;
    unsigned may = tensor_may(t) | special_may(a[2], false);
    if (t && t->read_only)
        may |= MAY(GR_ERR_STATE);
    may |= other ? MAY(GR_ERR_INVALID_VALUE) : 0;
    memset(bytes, a[1], sizeof(bytes));
    CUstream stream = stream_at(w, a[2]);
    gr_status status =
        gr_tensor_copy_from_host(tensor_handle(t), bytes, t ? t->size + other : 1, stream);
    if (!judge(w, status, may))
        return true;
    judge(w, gr_tensor_wait(tensor_handle(t), stream), 0);
    finish_stream(w, 0, stream);
    set(t, is_disputed(t) ? UNKNOWN : a[1] & 255);
    return true;
}

bool run_gr_tensor_copy_to_host(struct world *w, const int *a)
{
    unsigned char bytes[MOST_BYTES];
    struct tensor *t = tensor_at(w, a[0]);
    if (!is_tensor_valid(w, t) || is_drawn(w, t) || !can_work(w, a[2]) || a[2] == STREAM_NONE)
        return false;
    bool none = a[1] == 0;
    unsigned may =
        tensor_may(t) | special_may(a[2], false) | (none ? MAY(GR_ERR_INVALID_VALUE) : 0);
    CUstream stream = stream_at(w, a[2]);
    gr_status status =
        gr_tensor_copy_to_host(tensor_handle(t), none ? NULL : bytes, t ? t->size : 1, stream);
    if (!judge(w, status, may))
        return true;
    finish_stream(w, 0, stream);
    for (size_t i = 0; i < t->size; i++)
        if (t->bytes[i] != UNKNOWN && t->bytes[i] != bytes[i])
            fail(w, "byte %zu is %u, expected %d", i, bytes[i], t->bytes[i]);
    return true;
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* Converts a dtype to each of its names and back. */
bool run_gr_dtype_get_info(struct world *w, const int *a)
{
    gr_dtype dtype = (gr_dtype)(a[0] % 20);
    const gr_dtype_info *info = gr_dtype_get_info(dtype);
    must(w, (info != NULL) == (dtype >= GR_DTYPE_U8 && dtype <= GR_DTYPE_C128));
    if (info) {
        must(w, info->size > 0 && gr_dtype_parse(info->name) == dtype);
        must(w, dtype == GR_DTYPE_BF16 || gr_dtype_parse(info->typestr) == dtype);
    }
    return true;
}

bool run_gr_dtype_parse(struct world *w, const int *a)
{
    static const char *const names[] = {NULL, "floaty", ">f4", "f4"};
    gr_clear_error();
    gr_dtype dtype = gr_dtype_parse(names[a[0]]);
    must(w, dtype == (a[0] == 3 ? GR_DTYPE_F32 : (gr_dtype)0));
    judge(w, gr_last_error()->status,
          a[0] == 3   ? 0
          : a[0] == 2 ? MAY(GR_ERR_UNSUPPORTED)
                      : MAY(GR_ERR_INVALID_VALUE));
    return true;
}
