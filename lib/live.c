/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of what lives: a hash table by address, in parts with a lock each, so that threads that
 * map and release different resources rarely meet.
 */
#include "lib/live.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lib/log.h"

#define PARTS      8  /* a power of two */
#define FIRST_ROOM 64 /* likewise */

struct entry {
    const void *object; /* NULL: free */
    enum gr_live_kind kind;
};

struct part {
    pthread_mutex_t lock;
    struct entry *entries; /* NULL: `first` */
    size_t room;           /* 0: FIRST_ROOM */
    size_t used;
    bool full; /* it could not grow: what is not in it may be alive all the same */
    struct entry first[FIRST_ROOM];
};

#define PART                                                                                       \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }
static struct part parts[PARTS] = {PART, PART, PART, PART, PART, PART, PART, PART};
#undef PART

static const struct {
    const char *name, *end; /* the call that ends it; NULL: none of the program's */
} kinds[GR_LIVE_KINDS] = {
    [GR_LIVE_RESOURCE] = {"resource", "gr_resource_free"},
    [GR_LIVE_BUFFER] = {"buffer", "gr_buffer_release"},
    [GR_LIVE_SEMAPHORE] = {"semaphore", "gr_semaphore_free"},
    [GR_LIVE_RING] = {"ring", "gr_ring_free"},
    [GR_LIVE_SUBMIT] = {"submit", "gr_submit_free"},
    [GR_LIVE_RING_SUBMIT] = {"submit of a ring", NULL},
    [GR_LIVE_VK_DEVICE] = {"Vulkan device", "gr_vk_device_free"},
    [GR_LIVE_VK_HEADLESS] = {"headless Vulkan device", "gr_vk_headless_free"},
    [GR_LIVE_EGL] = {"EGL context", "gr_egl_free"},
    [GR_LIVE_CUDA_CONTEXT] = {"CUDA context", "gr_cuda_context_free"},
    [GR_LIVE_DLPACK] = {"DLPack export", "deleter"},
    [GR_LIVE_DLPACK_TAKEN] = {"DLPack import", NULL},
    [GR_LIVE_TENSOR] = {"tensor", "gr_tensor_free"},
};

/* ---- One part -------------------------------------------------------------------------------- */

/* Addresses are multiples of 16, and their middle bits tell objects apart. */
static size_t hash(const void *object)
{
    uint64_t bits = (uint64_t)(uintptr_t)object >> 4;
    return (size_t)((bits * 0x9e3779b97f4a7c15u) >> 24);
}

static struct part *part_of(const void *object)
{
    return &parts[hash(object) & (PARTS - 1)];
}

static struct entry *entries_of(struct part *part)
{
    return part->entries ? part->entries : part->first;
}

static size_t room_of(const struct part *part)
{
    return part->room ? part->room : FIRST_ROOM;
}

static size_t home_of(const void *object, size_t room)
{
    return (hash(object) / PARTS) & (room - 1);
}

/* The entry of an object, or the free one where it would go. One entry is always free. */
static size_t place_of(const struct entry entries[], size_t room, enum gr_live_kind kind,
                       const void *object)
{
    size_t i = home_of(object, room);
    while (entries[i].object && (entries[i].object != object || entries[i].kind != kind))
        i = (i + 1) & (room - 1);
    return i;
}

static bool grow(struct part *part)
{
    size_t room = room_of(part) * 2;
    const struct entry *old = entries_of(part);
    struct entry *larger = calloc(room, sizeof(*larger));
    if (!larger)
        return false;
    for (size_t i = 0; i < room_of(part); i++)
        if (old[i].object)
            larger[place_of(larger, room, old[i].kind, old[i].object)] = old[i];
    free(part->entries);
    part->entries = larger;
    part->room = room;
    return true;
}

static void put(struct part *part, enum gr_live_kind kind, const void *object)
{
    if (part->used + 1 > room_of(part) / 2 && !grow(part) && part->used + 2 > room_of(part)) {
        part->full = true;
        return;
    }
    struct entry *entry =
        &entries_of(part)[place_of(entries_of(part), room_of(part), kind, object)];
    if (!entry->object)
        part->used++;
    *entry = (struct entry){object, kind};
}

/* Empties an entry, and moves up those that stand behind it only since it was taken. */
static void take(struct part *part, size_t at)
{
    struct entry *entries = entries_of(part);
    size_t mask = room_of(part) - 1;
    for (size_t i = (at + 1) & mask; entries[i].object; i = (i + 1) & mask) {
        size_t home = home_of(entries[i].object, mask + 1);
        if (((i - home) & mask) < ((i - at) & mask))
            continue;
        entries[at] = entries[i];
        at = i;
    }
    entries[at].object = NULL;
    part->used--;
}

/* ---- The table ------------------------------------------------------------------------------- */

void gr_live_add(enum gr_live_kind kind, const void *object)
{
    struct part *part = part_of(object);
    pthread_mutex_lock(&part->lock);
    put(part, kind, object);
    pthread_mutex_unlock(&part->lock);
}

bool gr_live_remove(enum gr_live_kind kind, const void *object)
{
    struct part *part = part_of(object);
    pthread_mutex_lock(&part->lock);
    size_t at = place_of(entries_of(part), room_of(part), kind, object);
    bool found = entries_of(part)[at].object;
    if (found)
        take(part, at);
    found = found || part->full;
    pthread_mutex_unlock(&part->lock);
    return found;
}

static bool look(enum gr_live_kind kind, const void *object, bool if_full)
{
    struct part *part = part_of(object);
    pthread_mutex_lock(&part->lock);
    size_t at = place_of(entries_of(part), room_of(part), kind, object);
    bool found = entries_of(part)[at].object || (part->full && if_full);
    pthread_mutex_unlock(&part->lock);
    return found;
}

bool gr_live_has(enum gr_live_kind kind, const void *object)
{
    return look(kind, object, true);
}

bool gr_live_is_listed(enum gr_live_kind kind, const void *object)
{
    return look(kind, object, false);
}

static gr_status refuse(enum gr_live_kind kind, const void *object, const char *call)
{
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "%s was given %p, which is no %s that lives: it was freed already, or never was "
                   "one. Nothing was done.",
                   call, object, kinds[kind].name);
}

bool gr_live_end(enum gr_live_kind kind, const void *object, const char *call)
{
    if (gr_live_remove(kind, object))
        return true;
    refuse(kind, object, call);
    return false;
}

gr_status gr_live_check(enum gr_live_kind kind, const void *object, const char *call)
{
    return gr_live_has(kind, object) ? GR_OK : refuse(kind, object, call);
}

/* ---- What is open at the end ----------------------------------------------------------------- */

/* The list of one kind's objects. */
struct list {
    size_t count, used;
    char text[800];
};

static gr_live_describe_fn describers[GR_LIVE_KINDS];

void gr_live_describe_by(enum gr_live_kind kind, gr_live_describe_fn describe)
{
    describers[kind] = describe;
}

static void note(struct list *list, enum gr_live_kind kind, const void *object)
{
    char text[320];
    if (!describers[kind])
        snprintf(text, sizeof(text), "%p", object);
    else if (!describers[kind](object, text, sizeof(text)))
        return;
    list->count++;
    size_t room = sizeof(list->text) - list->used;
    if (strlen(text) + sizeof("; ...") < room)
        list->used +=
            (size_t)snprintf(list->text + list->used, room, "%s%s", list->used ? "; " : "", text);
    else
        snprintf(list->text + list->used, room, "; ..."); /* the rest is in their number */
}

static void list_kind(enum gr_live_kind kind)
{
    struct list list = {0};
    for (size_t p = 0; p < PARTS; p++) {
        struct part *part = &parts[p];
        pthread_mutex_lock(&part->lock); /* an object lives at least as long as it is in */
        for (size_t i = 0; i < room_of(part); i++) {
            const struct entry *e = &entries_of(part)[i];
            if (e->object && e->kind == kind)
                note(&list, kind, e->object);
        }
        pthread_mutex_unlock(&part->lock);
    }
    if (list.count)
        gr_log_at_end(GR_LOG_INFO, "the process ends with %zu %s%s open, without %s(): %s",
                      list.count, kinds[kind].name, list.count == 1 ? "" : "s", kinds[kind].end,
                      list.text);
}

__attribute__((destructor)) static void list_open(void)
{
    if (!gr_log_wanted(GR_LOG_INFO))
        return;
    for (int kind = 0; kind < GR_LIVE_KINDS; kind++)
        if (kinds[kind].end)
            list_kind((enum gr_live_kind)kind);
}
