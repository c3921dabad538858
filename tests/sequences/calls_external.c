/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources in external memory: imported by descriptor, created in memory that another resource
 * uses, or sent and received within this process. Where two resources share memory, it is undefined
 * which write wins.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <fcntl.h>
#include <grinterop/external.h>
#include <grinterop/share.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY 4096

/* ---- Success --------------------------------------------------------------------------------- */

/* Another resource uses the same memory, so the contents are unknown. */
static void is_shared(struct object *o)
{
    o->shared = o->disputed = true;
    bytes_are(o, 0, o->size, UNKNOWN);
}

static void is_made(struct world *w, struct resource *r, gr_resource *made, size_t size,
                    unsigned flags)
{
    r->own = (struct object){
        .target = GL_ARRAY_BUFFER, .context = ANY_CONTEXT, .size = size, .immutable = true};
    bytes_are(&r->own, 0, size, UNKNOWN);
    resource_is_made(w, r, made, &r->own, flags);
    r->transport = GR_TRANSPORT_EXTERNAL;
    r->external = r->undecided = true;
}

static unsigned flags_may(int flags)
{
    return flags > GR_WRITE_DISCARD ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

/* ---- By a descriptor ------------------------------------------------------------------------- */

/*
 * Creates a memory file as lavapipe exports it. Only the software driver accepts such files. The
 * header of the file holds the size and the start of the data. The file is sealed against
 * shrinking.
 */
#define HEAD 64

static int make_memory(struct world *w)
{
    const uint64_t head[HEAD / 8] = {HEAD + MEMORY, HEAD};
    int fd = memfd_create("sequences", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    must(w, fd >= 0 && ftruncate(fd, HEAD + MEMORY) == 0);
    must(w, pwrite(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head));
    must(w, fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    return fd;
}

/* Argument values 0 to 2 are errors: no size, a range past the end, no handle type. */
bool run_gr_from_external_memory(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[2]);
    int wrong = a[0] % 16;
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = wrong == 1 ? MEMORY : 0, .size = BYTES);
    if (r->used || !w->software || w->cuda == 1)
        return false;
    const gr_external_memory_desc desc =
        GR_INIT(gr_external_memory_desc, .fd = make_memory(w),
                .type = wrong == 2 ? (CUexternalMemoryHandleType)0
                                   : CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                .size = wrong == 0 ? 0 : MEMORY, .part = &part);
    unsigned may = flags_may(a[1]) | (wrong <= 2 ? MAY(GR_ERR_INVALID_VALUE) : 0);
    gr_resource *made = gr_from_external_memory(&desc, (unsigned)a[1]);
    if (judge_made(w, made, may))
        is_made(w, r, made, BYTES, (unsigned)a[1]);
    else
        must(w, close(desc.fd) == 0);
    return true;
}

/* Uses one half of the memory, or a range past its end. */
bool run_gr_from_same_memory(struct world *w, const int *a)
{
    struct resource *from = resource_at(w, a[0]), *r = resource_at(w, a[3]);
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = a[1] ? BYTES / 2 : 2 * MEMORY, .size = BYTES / 2);
    if (r->used || (from && (from->life != LIVE || from->gone || from->object->vulkan ||
                             from->transport == GR_TRANSPORT_SHARED)))
        return false;
    unsigned may = resource_may(from) | flags_may(a[2]) | (a[1] ? 0 : MAY(GR_ERR_INVALID_VALUE));
    if (from && (!from->external || from->closed))
        may |= MAY(GR_ERR_STATE);
    gr_resource *made = gr_from_same_memory(handle_of(from), &part, (unsigned)a[2]);
    if (!judge_made(w, made, may))
        return true;
    int cuda = from->cuda;
    is_shared(from->object);
    is_made(w, r, made, BYTES / 2, (unsigned)a[2]);
    r->cuda = cuda;
    is_shared(&r->own);
    return true;
}

/* Sets an external resource to use no semaphores. Until then its maps are refused. */
bool run_sync_none(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    if (!r || r->life != LIVE || r->gone || !r->external)
        return false;
    collect_first(w, r);
    unsigned may = r->mapped || r->closed || r->ring ? MAY(GR_ERR_STATE) : 0;
    if (judge(w, gr_resource_set_sync(r->it, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE), may))
        r->undecided = false;
    return true;
}

/* ---- Send and receive, within one process ---------------------------------------------------- */

static bool has_mail(const struct world *w)
{
    return w->mail_sent > w->mail_read;
}

/*
 * Only Vulkan resources are sent successfully. Receiving a resource in OpenGL storage needs an
 * import that the software driver lacks.
 */
bool run_gr_resource_send(struct world *w, const int *a)
{
    unsigned char data[256];
    struct resource *r = resource_at(w, a[0]);
    size_t size = a[1] == 0 ? GR_SHARE_MOST_DATA + 1 : (size_t)a[1];
    if (r && (r->life != LIVE || r->gone || r->begun || r->own_sync ||
              r->transport == GR_TRANSPORT_SHARED || r->image || r->object->of ||
              (r->object->vulkan && !r->object->immutable)))
        return false;
    if (w->mail_sent - w->mail_read == MAILS)
        return false;
    collect_first(w, r);
    memset(data, a[1], sizeof(data));
    unsigned may = resource_may(r) | (a[1] == 0 ? MAY(GR_ERR_INVALID_VALUE) : 0);
    if (r && !r->object->vulkan)
        may |= MAY(GR_ERR_UNSUPPORTED);
    if (r && (r->mapped || r->closed || r->ring))
        may |= MAY(GR_ERR_STATE);
    if (!judge(w, gr_resource_send(w->sockets[0], handle_of(r), data, size, 0), may))
        return true;
    is_shared(r->object);
    w->mails[w->mail_sent++ % MAILS] =
        (struct mail){.size = r->size, .flags = r->flags, .data = size};
    return true;
}

/* If the data does not fit, the message stays in the socket for a later call. */
bool run_gr_resource_receive(struct world *w, const int *a)
{
    unsigned char data[256];
    struct resource *r = resource_at(w, a[1]);
    const struct mail *mail = &w->mails[w->mail_read % MAILS];
    size_t room = a[0] ? sizeof(data) : 0, size = 0;
    if (r->used || w->cuda == 1)
        return false;
    unsigned may = !has_mail(w) ? MAY(GR_ERR_NOT_READY) : !room ? MAY(GR_ERR_INVALID_VALUE) : 0;
    gr_resource *made = gr_resource_receive(w->sockets[1], room ? data : NULL, room, &size, 0);
    judge_made(w, made, may);
    must(w, !has_mail(w) || size == mail->data);
    if (!made)
        return true;
    for (size_t i = 0; i < size; i++)
        must(w, data[i] == size);
    w->mail_read++;
    is_made(w, r, made, mail->size, mail->flags);
    is_shared(&r->own);
    return true;
}
