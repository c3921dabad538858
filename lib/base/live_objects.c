/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table of live objects: a hash table by address, divided into parts. Each part has a lock, so
 * threads with different objects rarely contend.
 *
 * Lookups are lock-free, since every map and release does one, and the table changes only when an
 * object is created or freed. A part counts before and after each change. A lookup that saw an odd
 * count, or two different counts before and after, is repeated under the lock. Outgrown arrays are
 * kept, because a lookup may still read them. Together they are no larger than the newest array.
 */
#include "lib/base/live_objects.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/base/log.h"
#include "lib/base/machine.h"

#define PARTS      8   /* a power of two */
#define FIRST_ROOM 128 /* a power of two */

/*
 * Both members are accessed atomically. The object is a plain pointer, so that leak checkers see
 * it.
 */
struct entry {
    const void *object; /* NULL: the entry is free */
    enum gr_live_kind kind;
};

struct array {
    size_t room;
    struct array *outgrown;
    struct entry at[];
};

struct part {
    pthread_mutex_t lock;
    size_t changes;      /* atomic; odd while a change is in progress */
    struct array *array; /* atomic; NULL until the part has an entry */
    size_t used;
    bool full; /* atomic; growing failed, so objects may be missing in the array */
} __attribute__((aligned(64)));

#define PART                                                                                       \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }
static struct part parts[PARTS] = {PART, PART, PART, PART, PART, PART, PART, PART};
#undef PART

static const struct {
    /* the call that ends the object; NULL: programs do not end such objects */
    const char *name, *end;
} kinds[GR_LIVE_KINDS] = {
    [GR_LIVE_RESOURCE] = {"resource", "gr_resource_free"},
    [GR_LIVE_BUFFER] = {"buffer", "gr_buffer_release"},
    [GR_LIVE_SEMAPHORE] = {"semaphore", "gr_semaphore_free"},
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
    return &parts[hash(object) & (PARTS - 1)];
}

static size_t home_of(const void *object, const struct array *array)
{
    return (hash(object) / PARTS) & (array->room - 1);
}

static void set(struct entry *entry, enum gr_live_kind kind, const void *object)
{
    __atomic_store_n(&entry->kind, kind, __ATOMIC_RELEASE);
    __atomic_store_n(&entry->object, object, __ATOMIC_RELEASE);
}

/*
 * Whether an object is in the array. *place is the index of the object, or of the free entry for
 * it. A free entry ends the search. Most entries are free, and only a lock-free lookup may find no
 * free entry.
 */
static inline bool find(const struct array *array, enum gr_live_kind kind, const void *object,
                        size_t *place)
{
    size_t home = home_of(object, array);
    *place = home;
    do {
        const struct entry *entry = &array->at[*place];
        const void *found = __atomic_load_n(&entry->object, __ATOMIC_ACQUIRE);
        if (!found)
            return false;
        if (found == object && __atomic_load_n(&entry->kind, __ATOMIC_ACQUIRE) == kind)
            return true;
        *place = (*place + 1) & (array->room - 1);
    } while (*place != home);
    return false;
}

static void put(struct array *array, enum gr_live_kind kind, const void *object, size_t *used)
{
    size_t place;
    if (!find(array, kind, object, &place))
        ++*used;
    set(&array->at[place], kind, object);
}

/* Empties an entry, and moves up the entries that it displaced. */
static void take(struct array *array, size_t place)
{
    struct entry *at = array->at;
    size_t mask = array->room - 1;
    for (size_t i = (place + 1) & mask; at[i].object; i = (i + 1) & mask) {
        size_t home = home_of(at[i].object, array);
        if (((i - home) & mask) < ((i - place) & mask))
            continue;
        set(&at[place], at[i].kind, at[i].object);
        place = i;
    }
    set(&at[place], at[place].kind, NULL);
}

static bool grow(struct part *part)
{
    size_t used = 0;
    struct array *old = part->array;
    size_t room = old ? old->room * 2 : FIRST_ROOM;
    struct array *larger = calloc(1, sizeof(*larger) + room * sizeof(*larger->at));
    if (!larger)
        return false;
    larger->room = room;
    larger->outgrown = old;
    for (size_t i = 0; old && i < old->room; i++)
        if (old->at[i].object)
            put(larger, old->at[i].kind, old->at[i].object, &used);
    __atomic_store_n(&part->array, larger, __ATOMIC_RELEASE);
    return true;
}

/*
 * Makes room for one more entry. At most a quarter of the entries is used, so that most objects are
 * at their first index; or half of the entries if memory is short.
 */
static bool make_room(struct part *part)
{
    const struct array *array = part->array;
    if ((array && part->used < array->room / 4) || grow(part))
        return true;
    return array && part->used < array->room / 2;
}

static void begin_change(struct part *part)
{
    pthread_mutex_lock(&part->lock);
    __atomic_store_n(&part->changes, part->changes + 1, __ATOMIC_RELAXED);
}

static void end_change(struct part *part)
{
    __atomic_store_n(&part->changes, part->changes + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&part->lock);
}

static inline bool is_listed(const struct part *part, enum gr_live_kind kind, const void *object)
{
    size_t place;
    const struct array *array = __atomic_load_n(&part->array, __ATOMIC_ACQUIRE);
    return array && find(array, kind, object, &place);
}

static __attribute__((noinline, cold)) bool is_listed_locked(struct part *part,
                                                             enum gr_live_kind kind,
                                                             const void *object)
{
    pthread_mutex_lock(&part->lock);
    bool found = is_listed(part, kind, object);
    pthread_mutex_unlock(&part->lock);
    return found;
}

/* Whether an object is in its part. Without changes in progress, this function takes no lock. */
static __attribute__((noinline)) bool search(struct part *part, enum gr_live_kind kind,
                                             const void *object)
{
    size_t before = __atomic_load_n(&part->changes, __ATOMIC_ACQUIRE);
    bool found = is_listed(part, kind, object);
    bool changed = before & 1 || __atomic_load_n(&part->changes, __ATOMIC_RELAXED) != before;
    return changed ? is_listed_locked(part, kind, object) : found;
}

/* Whether an object is at its first index, as most objects are. False during a change. */
static inline bool is_at_home(const struct part *part, enum gr_live_kind kind, const void *object)
{
    size_t before = __atomic_load_n(&part->changes, __ATOMIC_ACQUIRE);
    const struct array *array = __atomic_load_n(&part->array, __ATOMIC_ACQUIRE);
    if (!array || before & 1)
        return false;
    const struct entry *home = &array->at[home_of(object, array)];
    return __atomic_load_n(&home->object, __ATOMIC_ACQUIRE) == object &&
           __atomic_load_n(&home->kind, __ATOMIC_ACQUIRE) == kind &&
           __atomic_load_n(&part->changes, __ATOMIC_RELAXED) == before;
}

/* ---- The table ------------------------------------------------------------------------------- */

void gr_live_add(enum gr_live_kind kind, const void *object)
{
    struct part *part = part_of(object);
    begin_change(part);
    if (make_room(part))
        put(part->array, kind, object, &part->used);
    else
        __atomic_store_n(&part->full, true, __ATOMIC_RELAXED);
    end_change(part);
}

bool gr_live_remove(enum gr_live_kind kind, const void *object)
{
    size_t place;
    struct part *part = part_of(object);
    begin_change(part);
    bool found = part->array && find(part->array, kind, object, &place);
    if (found) {
        take(part->array, place);
        part->used--;
    }
    found = found || part->full;
    end_change(part);
    return found;
}

bool gr_live_is_listed(enum gr_live_kind kind, const void *object)
{
    return search(part_of(object), kind, object);
}

static __attribute__((noinline)) bool has_elsewhere(struct part *part, enum gr_live_kind kind,
                                                    const void *object)
{
    return search(part, kind, object) || __atomic_load_n(&part->full, __ATOMIC_RELAXED);
}

bool gr_live_has(enum gr_live_kind kind, const void *object)
{
    struct part *part = part_of(object);
    return is_at_home(part, kind, object) || has_elsewhere(part, kind, object);
}

/*
 * Formats the text for a wrong kind of object: "...: it is a buffer, which gr_buffer_release()
 * ends".
 */
static void describe_kind(enum gr_live_kind wanted, const void *object, char *text, size_t size)
{
    snprintf(text, size, "it was freed already, or never was one");
    for (int kind = 0; kind < GR_LIVE_KINDS; kind++)
        if (kind != (int)wanted && kinds[kind].end &&
            gr_live_is_listed((enum gr_live_kind)kind, object)) {
            snprintf(text, size, "it is a %s, which %s() ends", kinds[kind].name, kinds[kind].end);
            return;
        }
}

gr_status gr_live_refuse(enum gr_live_kind kind, const void *object, const char *call)
{
    char is[96];
    if (gr_forked)
        return gr_refuse_forked(call);
    describe_kind(kind, object, is, sizeof(is));
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "%s was given %p, which is not a live %s: %s. Nothing was done.", call, object,
                   kinds[kind].name, is);
}

bool gr_live_end(enum gr_live_kind kind, const void *object, const char *call)
{
    if (gr_live_remove(kind, object))
        return true;
    if (!gr_forked) /* in a forked child the parent owns the object */
        gr_live_refuse(kind, object, call);
    return false;
}

/* ---- In a forked child ----------------------------------------------------------------------- */

/*
 * Empties the table in the child. The objects and arrays belong to the parent, where another thread
 * may have been changing them.
 */
static void forget(void)
{
    for (size_t p = 0; p < PARTS; p++) {
        gr_forked = gr_forked || parts[p].used;
        parts[p] = (struct part){.array = NULL};
        pthread_mutex_init(&parts[p].lock, NULL);
    }
}

__attribute__((constructor)) static void watch_fork(void)
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
        pthread_mutex_lock(&part->lock);
        for (size_t i = 0; part->array && i < part->array->room; i++) {
            const struct entry *e = &part->array->at[i];
            if (e->object && e->kind == kind)
                note(&list, kind, e->object);
        }
        pthread_mutex_unlock(&part->lock);
    }
    const bool each = gr_log_wanted(GR_LOG_INFO);
    if (list.count)
        gr_log_at_end(GR_LOG_WARNING, "the process ends with %zu %s%s open, without %s()%s%s",
                      list.count, kinds[kind].name, list.count == 1 ? "" : "s", kinds[kind].end,
                      each ? ": " : "; ", each ? list.text : "GR_LOG=info describes each");
}

__attribute__((destructor)) static void list_open(void)
{
    if (!gr_log_wanted(GR_LOG_WARNING))
        return;
    for (int kind = 0; kind < GR_LIVE_KINDS; kind++)
        if (kinds[kind].end)
            list_kind((enum gr_live_kind)kind);
}
