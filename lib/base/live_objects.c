/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table of live objects: a hash table by address, divided into parts. Each part has a lock, so
 * threads with different objects rarely contend.
 */
#include "lib/base/live_objects.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "lib/base/compiler.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/base/loader.h"
#include "lib/base/log.h"
#include "lib/base/machine.h"
#include "lib/base/spin_lock.h"

#define PARTS      8   /* a power of two */
#define FIRST_ROOM 128 /* a power of two */

struct entry {
    const void *object; /* NULL: the entry is free */
    enum gr_live_kind kind;
};

/* One cache line. */
struct part {
    _Alignas(64) struct gr_spin_lock lock;
    struct entry *at; /* NULL until the part has an entry; at least one entry is free */
    unsigned used, room;
    atomic_bool full; /* growing failed, so objects may be missing */
};

static struct part parts[PARTS];

static const struct {
    /* the call that ends the object; NULL: programs do not end such objects */
    const char *name, *end;
} kinds[GR_LIVE_KINDS] = {
    [GR_LIVE_RESOURCE] = {"resource", "gr_resource_free"},
    [GR_LIVE_BUFFER] = {"buffer", "gr_buffer_release"},
    [GR_LIVE_SEMAPHORE] = {"semaphore", "gr_semaphore_free"},
    [GR_LIVE_HELD_SEMAPHORE] = {"semaphore", NULL},
    [GR_LIVE_RING] = {"ring", "gr_ring_free"},
    [GR_LIVE_SUBMIT] = {"submit", "gr_submit_free"},
    [GR_LIVE_VK_DEVICE] = {"Vulkan device", "gr_vk_device_free"},
    [GR_LIVE_VK_HEADLESS] = {"headless Vulkan device", "gr_vk_headless_free"},
    [GR_LIVE_EGL] = {"EGL context", "gr_egl_free"},
    [GR_LIVE_CUDA_CONTEXT] = {"CUDA context", "gr_cuda_context_free"},
    [GR_LIVE_DLPACK] = {"DLPack export", "deleter"},
    [GR_LIVE_DLPACK_TAKEN] = {"DLPack import", NULL},
    [GR_LIVE_TENSOR] = {"tensor", "gr_tensor_free"},
};

/* ---- One part -------------------------------------------------------------------------------- */

/* Hashes an address. Addresses are multiples of 16; their middle bits differ most. */
static size_t hash(const void *object)
{
    uint64_t bits = (uint64_t)(uintptr_t)object >> 4;
    return (size_t)((bits * 0x9e3779b97f4a7c15u) >> 24);
}

static struct part *part_of(const void *object)
{
    return &parts[hash(object) % PARTS];
}

static struct part *lock_part(const void *object)
{
    struct part *part = part_of(object);
    gr_spin_lock(&part->lock);
    return part;
}

static size_t home_of(const struct part *part, const void *object)
{
    return (hash(object) / PARTS) & (part->room - 1);
}

/* Returns the entry of an object, or the free entry for it; NULL if the part has no entries yet. */
static inline struct entry *find(const struct part *part, enum gr_live_kind kind,
                                 const void *object)
{
    if (!part->at)
        return NULL;
    size_t i = home_of(part, object);
    while (part->at[i].object && !(part->at[i].object == object && part->at[i].kind == kind))
        i = (i + 1) & (part->room - 1);
    return &part->at[i];
}

/* Empties an entry, and moves up the entries that it displaced. */
static void take(struct part *part, struct entry *entry)
{
    size_t mask = part->room - 1, place = (size_t)(entry - part->at);
    for (size_t i = (place + 1) & mask; part->at[i].object; i = (i + 1) & mask) {
        size_t home = home_of(part, part->at[i].object);
        if (((i - home) & mask) < ((i - place) & mask))
            continue;
        part->at[place] = part->at[i];
        place = i;
    }
    part->at[place].object = NULL;
}

static bool grow(struct part *part)
{
    struct part larger = {.room = part->room ? part->room * 2 : FIRST_ROOM};
    larger.at = calloc(larger.room, sizeof(*larger.at));
    if (!larger.at)
        return false;
    for (size_t i = 0; i < part->room; i++)
        if (part->at[i].object)
            *find(&larger, part->at[i].kind, part->at[i].object) = part->at[i];
    free(part->at);
    part->at = larger.at;
    part->room = larger.room;
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

void gr_live_add_each(enum gr_live_kind kind, const void *first, size_t n, size_t size)
{
    gr_loader_stay();
    for (size_t i = 0; i < n; i++) {
        const void *object = (const char *)first + i * size;
        struct part *part = lock_part(object);
        /*
         * At most a quarter of the entries is used, so that most objects are at their first index,
         * unless memory is short.
         */
        if (part->used < part->room / 4 || grow(part) || part->used + 1 < part->room) {
            struct entry *entry = find(part, kind, object);
            part->used += !entry->object;
            *entry = (struct entry){object, kind};
        } else {
            atomic_store_explicit(&part->full, true, memory_order_relaxed);
        }
        gr_spin_unlock(&part->lock);
    }
}

bool gr_live_remove(enum gr_live_kind kind, const void *object)
{
    struct part *part = lock_part(object);
    struct entry *entry = find(part, kind, object);
    bool found = part->full;
    if (entry && entry->object) {
        take(part, entry);
        part->used--;
        found = true;
    }
    gr_spin_unlock(&part->lock);
    return found;
}

/* Looks an object up in a locked part, and unlocks the part. */
static inline bool look_up(struct part *part, enum gr_live_kind kind, const void *object)
{
    const struct entry *entry = find(part, kind, object);
    bool found = entry && entry->object;
    gr_spin_unlock(&part->lock);
    return found;
}

bool gr_live_is_listed(enum gr_live_kind kind, const void *object)
{
    return look_up(lock_part(object), kind, object);
}

/* Everything but the usual case, to which gr_live_has() is restricted, because it is so frequent.
 */
static GR_NOINLINE GR_COLD bool may_have(enum gr_live_kind kind, const void *object)
{
    return gr_live_is_listed(kind, object) ||
           atomic_load_explicit(&part_of(object)->full, memory_order_relaxed);
}

bool gr_live_has(enum gr_live_kind kind, const void *object)
{
    struct part *part = part_of(object);
    return (gr_spin_try_lock(&part->lock) && look_up(part, kind, object)) || may_have(kind, object);
}

gr_status gr_live_refuse(enum gr_live_kind kind, const void *object)
{
    char is[96] = "it was freed already, or never was one";
    if (gr_forked)
        return gr_refuse_forked();
    for (int of = 0; of < GR_LIVE_KINDS; of++)
        if (of != (int)kind && kinds[of].end && gr_live_is_listed((enum gr_live_kind)of, object)) {
            snprintf(is, sizeof(is), "it is a %s, which %s() ends", kinds[of].name, kinds[of].end);
            break;
        }
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "%s was given %p, which is not a live %s: %s. Nothing was done.", gr_call,
                   object, kinds[kind].name, is);
}

gr_status gr_live_check(enum gr_live_kind kind, const void *object)
{
    return gr_live_has(kind, object) ? GR_OK : gr_live_refuse(kind, object);
}

bool gr_live_end(enum gr_live_kind kind, const void *object)
{
    if (gr_live_remove(kind, object))
        return true;
    if (!gr_forked) { /* in a forked child the parent owns the object */
        gr_live_refuse(kind, object);
        gr_error_show(gr_call);
    }
    return false;
}

/* ---- Freed memory ---------------------------------------------------------------------------- */

/* AddressSanitizer keeps freed memory itself, and reports accesses to it. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALLOCATOR_KEEPS
#endif
#endif
#if defined(ALLOCATOR_KEEPS) || defined(__SANITIZE_ADDRESS__)
void gr_live_free_memory(enum gr_live_kind kind, void *memory)
{
    (void)kind;
    free(memory);
}
#else
/* The freed memory of each kind, in rotation. */
static struct {
    atomic_uint next;
    _Atomic(void *) at[GR_LIVE_KEPT];
} kept[GR_LIVE_KINDS];

void gr_live_free_memory(enum gr_live_kind kind, void *memory)
{
    if (!memory)
        return;
    const unsigned i = atomic_fetch_add_explicit(&kept[kind].next, 1, memory_order_relaxed);
    free(atomic_exchange_explicit(&kept[kind].at[i % GR_LIVE_KEPT], memory, memory_order_acq_rel));
}
#endif

/* ---- In a forked child ----------------------------------------------------------------------- */

/*
 * Empties the table in the child. The objects and arrays belong to the parent, where another thread
 * may have been changing them.
 */
static void forget(void)
{
    for (size_t p = 0; p < PARTS; p++) {
        gr_forked = gr_forked || parts[p].used;
        parts[p] = (struct part){.at = NULL};
    }
}

GR_AT_LOAD static void watch_fork(void)
{
    gr_machine_watch_fork(forget);
}

/* ---- Open objects at exit -------------------------------------------------------------------- */

/* The text that lists the objects of one kind. */
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
        snprintf(list->text + list->used, room, "; ..."); /* the other objects are only counted */
}

static void list_kind(enum gr_live_kind kind)
{
    struct list list = {0};
    for (size_t p = 0; p < PARTS; p++) {
        struct part *part = &parts[p];
        /* while the lock is held, the objects in this part cannot be freed */
        gr_spin_lock(&part->lock);
        for (size_t i = 0; i < part->room; i++)
            if (part->at[i].object && part->at[i].kind == kind)
                note(&list, kind, part->at[i].object);
        gr_spin_unlock(&part->lock);
    }
    const bool each = gr_log_wanted(GR_LOG_INFO);
    if (list.count)
        gr_log_at_end(GR_LOG_WARNING, "the process ends with %zu %s%s open, without %s()%s%s",
                      list.count, kinds[kind].name, list.count == 1 ? "" : "s", kinds[kind].end,
                      each ? ": " : "; ", each ? list.text : "GR_LOG=info describes each");
}

GR_AT_UNLOAD(list_open)
{
    if (!gr_log_wanted(GR_LOG_WARNING))
        return;
    for (int kind = 0; kind < GR_LIVE_KINDS; kind++)
        if (kinds[kind].end)
            list_kind((enum gr_live_kind)kind);
}
