/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles. A handle is a number that is not a valid address. It consists of a slot in one table,
 * the slot's generation and the kind of object. A slot's generation changes when its handle is
 * dropped, so a stale handle matches nothing.
 */
#include "softcuda/driver/soft.h"

#include <stdatomic.h>
#include <stdlib.h>

/*
 * The number of bits of each part of a handle, from the lowest bit: kind 5, slot 24, generation 32.
 * The top bits are always 0.
 */
#define KIND_BITS 5
#define SLOT_BITS 24
#define MAX_SLOTS (1u << SLOT_BITS)

typedef struct {
    void *object; /* NULL if the slot is free */
    uint32_t generation;
    uint32_t next_free;
    enum soft_kind kind;
} handle_slot;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static handle_slot *slots;
static uint32_t capacity;
static uint32_t used = 1; /* slot 0 stays unused: 0 ends the list of free slots */
static uint32_t first_free;

static bool grow(void)
{
    uint32_t wanted = capacity ? capacity * 2 : 256;
    if (wanted > MAX_SLOTS)
        return false;
    handle_slot *larger = realloc(slots, wanted * sizeof(*slots));
    if (!larger)
        return false;
    slots = larger;
    capacity = wanted;
    return true;
}

static uint32_t take_slot(void)
{
    if (first_free) {
        uint32_t slot = first_free;
        first_free = slots[slot].next_free;
        return slot;
    }
    if (used >= capacity && !grow())
        return 0;
    slots[used].generation = 1;
    return used++;
}

void *soft_handle_new(enum soft_kind kind, void *object)
{
    SOFT_LOCK(&lock);
    uint32_t slot = take_slot();
    if (!slot)
        return NULL;
    slots[slot].object = object;
    slots[slot].kind = kind;
    uint64_t handle = (uint64_t)slots[slot].generation << (KIND_BITS + SLOT_BITS) |
                      (uint64_t)slot << KIND_BITS | (uint64_t)kind;
    return (void *)(uintptr_t)handle;
}

/* The slot of a live handle, or 0. */
static uint32_t find(enum soft_kind kind, const void *handle)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    uint32_t slot = (uint32_t)(number >> KIND_BITS) & (MAX_SLOTS - 1);
    bool is_live = (number & ((1u << KIND_BITS) - 1)) == (uint64_t)kind && slot && slot < used &&
                   slots[slot].object && slots[slot].kind == kind &&
                   number >> (KIND_BITS + SLOT_BITS) == slots[slot].generation;
    return is_live ? slot : 0;
}

void *soft_handle_get(enum soft_kind kind, const void *handle)
{
    SOFT_LOCK(&lock);
    uint32_t slot = find(kind, handle);
    return slot ? slots[slot].object : NULL;
}

void *soft_handle_drop(enum soft_kind kind, const void *handle)
{
    SOFT_LOCK(&lock);
    uint32_t slot = find(kind, handle);
    if (!slot)
        return NULL;
    void *object = slots[slot].object;
    slots[slot].object = NULL;
    slots[slot].generation++;
    slots[slot].next_free = first_free;
    first_free = slot;
    return object;
}

uint64_t soft_next_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}
