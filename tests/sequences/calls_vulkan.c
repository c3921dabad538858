/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan buffers, their semaphores, and submits with these. */
#include "calls.h"

#include <string.h>

/* ---- Resources ------------------------------------------------------------------------------- */

bool run_gr_create_vk_buffer(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[2]);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = a[0] % 16 == 0 ? 0 : BYTES,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (r->used || !w->device)
        return false;
    unsigned wrong = a[1] > GR_WRITE_DISCARD || !info.size;
    gr_resource *made = gr_create_vk_buffer(device_for(w, a[0] / 16), &info, (unsigned)a[1]);
    if (!judge_made(w, made, wrong ? MAY(GR_ERR_INVALID_VALUE) : 0))
        return true;
    memset(&r->own, 0, sizeof(r->own));
    r->own.target = GL_ARRAY_BUFFER;
    r->own.context = ANY_CONTEXT;
    r->own.vulkan = true;
    r->own.size = BYTES;
    r->own.immutable = true;
    bytes_are(&r->own, 0, BYTES, UNKNOWN);
    resource_is_made(w, r, made, &r->own, (unsigned)a[1]);
    r->transport = GR_TRANSPORT_EXTERNAL;
    r->cuda = 0;
    return true;
}

/* Checks a query that returns a Vulkan object. The query must fail for other resources. */
static bool ask(struct world *w, const struct resource *r, bool answer, bool expected)
{
    bool vulkans = r && r->object->vulkan;
    must(w, answer == (vulkans && expected));
    if (!vulkans)
        judge(w, gr_last_error()->status, r ? MAY(GR_ERR_STATE) : MAY(GR_ERR_INVALID_VALUE));
    return true;
}

#define ASK_VULKAN(function, expected)                                                             \
    bool run_##function(struct world *w, const int *a)                                             \
    {                                                                                              \
        struct resource *r = resource_at(w, a[0]);                                                 \
        if (r && (r->life != LIVE || r->closed))                                                   \
            return false;                                                                          \
        return ask(w, r, function(handle_of(r)) != VK_NULL_HANDLE, r && (expected));               \
    }
ASK_VULKAN(gr_vk_buffer, !r->image)
ASK_VULKAN(gr_vk_image, r->image)
ASK_VULKAN(gr_vk_memory, !r->copied)

/* ---- The device ------------------------------------------------------------------------------ */

bool run_gr_vk_device_get_info(struct world *w, const int *a)
{
    if (a[0] && !w->device)
        return false;
    const gr_vk_device_info *info = gr_vk_device_get_info(a[0] ? w->device : NULL);
    must(w, !info == !a[0]);
    must(w, !info || (info->cuda_device == 0 && info->description[0]));
    return true;
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static struct semaphore *semaphore_at(struct world *w, int place)
{
    return place >= 0 && place < SEMAPHORES ? &w->semaphores[place] : NULL;
}

static gr_semaphore *semaphore(const struct semaphore *m)
{
    return m ? m->it : NULL;
}

bool run_gr_semaphore_create_vk(struct world *w, const int *a)
{
    struct semaphore *m = semaphore_at(w, a[1]);
    VkSemaphoreType type = a[0] ? VK_SEMAPHORE_TYPE_TIMELINE : (VkSemaphoreType)77;
    if (m->life == LIVE || !w->device)
        return false;
    gr_semaphore *made = gr_semaphore_create_vk(w->device, type);
    if (judge_made(w, made, a[0] ? 0 : MAY(GR_ERR_INVALID_VALUE)))
        *m = (struct semaphore){.life = LIVE, .it = made};
    return true;
}

bool run_gr_semaphore_free(struct world *w, const int *a)
{
    struct semaphore *m = semaphore_at(w, a[0]);
    if (m && m->life != LIVE)
        return false;
    if (m)
        must(w, w->queue_wait_idle(w->vulkan->graphics) == VK_SUCCESS);
    gr_clear_error();
    gr_semaphore_free(semaphore(m));
    judge(w, gr_last_error()->status, 0);
    if (m)
        m->life = ENDED;
    return true;
}

#define ASK_SEMAPHORE(function, right)                                                             \
    bool run_##function(struct world *w, const int *a)                                             \
    {                                                                                              \
        struct semaphore *m = semaphore_at(w, a[0]);                                               \
        if (m && m->life != LIVE)                                                                  \
            return false;                                                                          \
        must(w, right);                                                                            \
        return true;                                                                               \
    }
static bool info_is_right(struct world *w, const struct semaphore *m)
{
    const gr_semaphore_info *info = gr_semaphore_get_info(semaphore(m));
    return m ? info->timeline &&
                   !info->external == !gr_vk_device_get_info(w->device)->has_semaphores
             : !info;
}

ASK_SEMAPHORE(gr_semaphore_get_info, info_is_right(w, m))
ASK_SEMAPHORE(gr_vk_semaphore, (gr_vk_semaphore(semaphore(m)) != VK_NULL_HANDLE) == !!m)

bool run_gr_semaphore_describe(struct world *w, const int *a)
{
    char text[64];
    struct semaphore *m = semaphore_at(w, a[0]);
    if (!m || m->life != LIVE)
        return false;
    must(w, gr_semaphore_describe(m->it, text, sizeof(text)) > 0);
    return true;
}

/*
 * Whether the semaphore may be signalled or awaited directly: no resource uses it, and the value of
 * a wait is already signalled.
 */
static bool is_point_valid(const struct world *w, const struct semaphore *m, int choice)
{
    bool stream = choice < STREAMS && w->streams[choice].life == LIVE && !w->streams[choice].cuda;
    return (!m || (m->life == LIVE && !m->paired)) && (stream || choice == STREAM_NULL);
}

bool run_gr_semaphore_signal(struct world *w, const int *a)
{
    struct semaphore *m = semaphore_at(w, a[0]);
    const uint64_t value = m ? m->value + (uint64_t)a[1] : 1;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore(m), .value = value);
    if (!is_point_valid(w, m, a[2]))
        return false;
    bool wrong = !m || a[2] == STREAM_NULL || value <= m->value;
    gr_status status = gr_semaphore_signal(&point, 1, stream_at(w, a[2]));
    if (judge(w, status, wrong ? MAY(GR_ERR_INVALID_VALUE) : 0))
        m->value = value;
    return true;
}

bool run_gr_semaphore_wait(struct world *w, const int *a)
{
    struct semaphore *m = semaphore_at(w, a[0]);
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore(m), .value = m ? m->value : 0);
    if (!is_point_valid(w, m, a[1]))
        return false;
    bool wrong = !m || a[1] == STREAM_NULL;
    judge(w, gr_semaphore_wait(&point, 1, stream_at(w, a[1])),
          wrong ? MAY(GR_ERR_INVALID_VALUE) : 0);
    return true;
}

/*
 * Vulkan signals the semaphores at even places and CUDA those at odd places, so that only one side
 * signals each semaphore.
 */
bool run_gr_resource_set_sync(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    bool swapped = a[1] >= 0 && a[1] % 2 != 0;
    struct semaphore *acquire = semaphore_at(w, a[swapped ? 2 : 1]);
    struct semaphore *release = semaphore_at(w, a[swapped ? 1 : 2]);
    bool same = acquire && acquire == release;
    if (!same && ((acquire && (acquire - w->semaphores) % 2 != 0) ||
                  (release && (release - w->semaphores) % 2 == 0)))
        return false;
    for (int i = 0; i < 2; i++) {
        const struct semaphore *m = i ? release : acquire;
        if (m && (m->life != LIVE || m->value))
            return false;
    }
    if (r && (r->life != LIVE || r->gone || r->external))
        return false;
    collect_first(w, r);
    unsigned may = resource_may(r) | (!acquire || !release || same ? MAY(GR_ERR_INVALID_VALUE) : 0);
    if (r && r->object->context != ANY_CONTEXT)
        may |= MAY(GR_ERR_INVALID_VALUE);
    if (r && (r->mapped || r->closed || r->begun || r->ring))
        may |= MAY(GR_ERR_STATE);
    if (judge(w, gr_resource_set_sync(handle_of(r), semaphore(acquire), semaphore(release)), may))
        r->own_sync = acquire->paired = release->paired = true;
    return true;
}

/* ---- Submits --------------------------------------------------------------------------------- */

static struct submit *submit_at(struct world *w, int place)
{
    return place >= 0 && place < SUBMITS ? &w->submits[place] : NULL;
}

static bool is_from_vulkan(const struct resource *r)
{
    return r && r->object && r->object->vulkan;
}

static unsigned begin_may(const struct resource *r)
{
    if (!r)
        return MAY(GR_ERR_INVALID_VALUE);
    return r->mapped || r->closed || r->begun || r->ring ? MAY(GR_ERR_STATE) : 0;
}

bool run_gr_submit_begin(struct world *w, const int *a)
{
    struct submit *q = submit_at(w, a[3]);
    gr_resource *list[2] = {NULL};
    size_t n = a[2] == 0 ? 0 : 1 + (size_t)a[2] % 2;
    unsigned may = n ? 0 : MAY(GR_ERR_INVALID_VALUE);
    if (q->life == LIVE)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct resource *r = resource_at(w, a[i]);
        if (r && (r->life != LIVE || r->gone || r->later || r->external))
            return false;
        list[i] = handle_of(r);
        may |= begin_may(r) | (i && a[0] == a[1] ? MAY(GR_ERR_INVALID_VALUE) : 0);
    }
    gr_submit *made = gr_submit_begin(list, n);
    if (!judge_made(w, made, may))
        return true;
    *q = (struct submit){.life = LIVE, .it = made, .order = ++w->begun};
    for (size_t i = 0; i < n; i++) {
        struct resource *r = resource_at(w, a[i]);
        if (!is_from_vulkan(r)) /* other resources ignore the argument */
            continue;
        q->list[i] = r;
        q->vulkans = true;
        r->begun = q;
    }
    return true;
}

static void is_over(struct submit *q)
{
    for (int i = 0; i < 2; i++)
        if (q->list[i] && q->list[i]->begun == q)
            q->list[i]->begun = NULL;
    q->list[0] = q->list[1] = NULL;
}

/* Commits a submit. If it has no Vulkan resources, the program need not submit to Vulkan first. */
bool run_gr_submit_commit(struct world *w, const int *a)
{
    struct submit *q = submit_at(w, a[0]);
    if (q && (q->life != LIVE || (q->vulkans && !q->made)))
        return false;
    unsigned may = !q ? MAY(GR_ERR_INVALID_VALUE) : q->made ? MAY(GR_ERR_STATE) : 0;
    if (judge(w, gr_submit_commit(q ? q->it : NULL), may))
        q->made = true;
    return true;
}

static bool is_stale_submit(const struct world *w, const struct submit *q)
{
    for (int i = 0; i < SUBMITS; i++)
        if (w->submits[i].life == LIVE && w->submits[i].it == q->it)
            return false;
    return w->alone && q->life == ENDED;
}

bool run_gr_submit_free(struct world *w, const int *a)
{
    struct submit *q = submit_at(w, a[0]);
    if (q && q->life != LIVE && !is_stale_submit(w, q))
        return false;
    gr_clear_error();
    gr_submit_free(q ? q->it : NULL);
    judge(w, gr_last_error()->status, q && q->life != LIVE ? MAY(GR_ERR_INVALID_VALUE) : 0);
    if (!q || q->life != LIVE)
        return true;
    is_over(q);
    q->life = ENDED;
    return true;
}

/*
 * The submit has no commands. It waits and signals as if it had some with barriers, or it copies
 * those resources whose copies only gr_vk_submit() can record.
 */
bool run_gr_vk_submit(struct world *w, const int *a)
{
    struct submit *q = submit_at(w, a[0]);
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .layout = VK_IMAGE_LAYOUT_GENERAL);
    const bool copies =
        q && ((q->list[0] && q->list[0]->copied) || (q->list[1] && q->list[1]->copied));
    const gr_vk_submit_desc desc = copies ? GR_INIT(gr_vk_submit_desc, .first = &use, .last = &use)
                                          : GR_INIT(gr_vk_submit_desc, .own_barriers = true);
    if (!w->device || (q && (q->life != LIVE || (!q->made && q->order < w->last_made))))
        return false;
    unsigned may = !q ? MAY(GR_ERR_INVALID_VALUE) : q->made ? MAY(GR_ERR_STATE) : 0;
    bool some = q && (q->list[0] || q->list[1]);
    if (q && !q->made && !some)
        may |= MAY(GR_ERR_INVALID_VALUE);
    if (!judge(w, gr_vk_submit(q ? q->it : NULL, &desc), may))
        return true;
    q->made = true;
    w->last_made = q->order;
    for (int i = 0; i < 2; i++)
        if (q->list[i])
            q->list[i]->is_new = false;
    is_over(q);
    return true;
}

/* Frames of a copied resource, of which random picks rarely make more than one. */
bool run_copied_frames(struct world *w, const int *a)
{
    const struct resource *r = resource_at(w, a[0]);
    const struct submit *q = submit_at(w, a[3]);
    if (!r || !r->copied || buffer_at(w, a[2])->life == LIVE || q->life == LIVE)
        return false;
    for (int i = 0; i <= a[4]; i++) {
        run_gr_map(w, (const int[]){a[0], a[1], a[2]});
        if (buffer_at(w, a[2])->life == LIVE && buffer_at(w, a[2])->resource == r)
            run_gr_buffer_release(w, (const int[]){a[2]});
        run_gr_submit_begin(w, (const int[]){a[0], a[0], 2, a[3]});
        if (q->life == LIVE) {
            run_gr_vk_submit(w, (const int[]){a[3]});
            run_gr_submit_free(w, (const int[]){a[3]});
        }
    }
    return true;
}
