/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that two processes share for a ring: who has which slot. A number from it is read once,
 * checked against what this process knows, and used as a number only; a peer that dies or lies
 * leaves nothing locked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/ring/peer_link.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics must work across processes");

/* ---- Making and mapping ---------------------------------------------------------------------- */

size_t gr_page_size(uint32_t slots)
{
    return sizeof(struct gr_page) + slots * sizeof(struct gr_page_slot);
}

int gr_page_create(uint32_t slots, const char *call)
{
    int fd = memfd_create("grinterop ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)gr_page_size(slots)) == 0 &&
        fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    gr_fail(GR_ERR_SYSTEM, call, "The ring's page could not be made: %s.", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page, const char *call)
{
    struct stat file;
    size_t size = gr_page_size(slots);
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size != (off_t)size ||
        seals < 0 || (seals & SEALS) != SEALS)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The descriptor that came for the ring's page is no sealed memory of %zu "
                       "bytes.",
                       size);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return gr_fail(GR_ERR_SYSTEM, call, "The ring's page could not be mapped: %s.",
                       strerror(errno));
    *page = mapped;
    return GR_OK;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static uint64_t word_of(uint64_t frame, enum gr_owner owner)
{
    return frame << 2 | owner;
}

static enum gr_owner owner_of(uint64_t word)
{
    return (enum gr_owner)(word & 3);
}

static uint64_t frame_of(uint64_t word)
{
    return word >> 2;
}

static void put(struct gr_share_link *link, uint32_t i, uint64_t word)
{
    link->slots[i].word = word;
    atomic_store(&link->page->slots[i].word, word);
}

/* Takes a frame that is there to be read, unless the peer was faster. */
static bool take(struct gr_share_link *link, uint32_t i, uint64_t frame, enum gr_owner to)
{
    uint64_t ready = word_of(frame, GR_OWNER_READY), taken = word_of(frame, to);
    if (!atomic_compare_exchange_strong(&link->page->slots[i].word, &ready, taken))
        return false;
    link->slots[i].word = taken;
    return true;
}

/* ---- What the peer has done ------------------------------------------------------------------ */

/* False: no peer of grinterop's does that. */
static bool pull_as_producer(struct gr_share_link *link, struct gr_ring_state *state, uint32_t i)
{
    struct gr_ring_place *place = &state->places[i];
    if (place->state != GR_PLACE_READY && place->state != GR_PLACE_READING)
        return true;
    uint64_t word = atomic_load(&link->page->slots[i].word);
    if (frame_of(word) != place->frame)
        return false;
    link->slots[i].word = word;
    switch (owner_of(word)) {
    case GR_OWNER_READY:
        return place->state == GR_PLACE_READY;
    case GR_OWNER_CONSUMER:
        place->state = GR_PLACE_READING;
        return true;
    case GR_OWNER_PRODUCER:
        link->slots[i].in = atomic_load(&link->page->slots[i].given_back);
        gr_ring_state_give_back(state, 1, &i);
        return true;
    default:
        state->dropped++;
        gr_ring_state_discard(state, 1, &i);
        return true;
    }
}

/* The producer has taken the frame back, which was there to be read. */
static void lose(struct gr_ring_state *state, uint32_t i)
{
    state->dropped++;
    gr_ring_state_discard(state, 1, &i);
}

/* A frame that is new here; one that is older than the last one read is of no use any more. */
static void note_ready(struct gr_share_link *link, struct gr_ring_state *state, uint32_t i,
                       uint64_t frame)
{
    struct gr_ring_place *place = &state->places[i];
    uint64_t value = atomic_load(&link->page->slots[i].written);
    if (frame < state->last_read && state->newest) {
        if (take(link, i, frame, GR_OWNER_DROPPED))
            state->dropped++;
        return;
    }
    link->slots[i].in = value;
    place->frame = frame;
    place->state = GR_PLACE_READY;
}

static bool pull_as_consumer(struct gr_share_link *link, struct gr_ring_state *state, uint32_t i)
{
    struct gr_ring_place *place = &state->places[i];
    uint64_t word = atomic_load(&link->page->slots[i].word), before = link->slots[i].word;
    if (place->state == GR_PLACE_READING)
        return word == before;
    if (word == before)
        return true;
    if (frame_of(word) < frame_of(before) || owner_of(word) == GR_OWNER_CONSUMER ||
        owner_of(word) == GR_OWNER_DROPPED)
        return false;
    if (place->state == GR_PLACE_READY)
        lose(state, i);
    bool is_ready = owner_of(word) == GR_OWNER_READY;
    if (is_ready && frame_of(word) > state->published)
        return true; /* not all before it may have been seen: the next time */
    link->slots[i].word = word;
    if (is_ready)
        note_ready(link, state, i, frame_of(word));
    return true;
}

static gr_status check_role(const struct gr_share_link *link, const struct gr_ring_side *side,
                            const char *call)
{
    if (side->writes == (link->role == GR_RING_PRODUCER))
        return GR_OK;
    return gr_fail(GR_ERR_STATE, call,
                   "The ring is shared with another process, and this one is its %s.",
                   side->writes ? "consumer" : "producer");
}

gr_status gr_link_pull(gr_ring *ring, const struct gr_ring_side *side, const char *call)
{
    struct gr_share_link *link = gr_link_of(ring);
    struct gr_ring_state *state = ring->state;
    gr_status status = check_role(link, side, call);
    if (status != GR_OK)
        return status;
    bool sound = !atomic_load(&link->spoiled);
    if (!side->writes) {
        uint64_t published = atomic_load(&link->page->published);
        sound = sound && published >= state->published;
        state->published = published;
    }
    for (uint32_t i = 0; i < link->count && sound; i++)
        sound = side->writes ? pull_as_producer(link, state, i) : pull_as_consumer(link, state, i);
    if (atomic_load(&link->page->stopped))
        state->stopped = 1;
    if (!sound) {
        atomic_store(&link->spoiled, true);
        return gr_link_fail_over(ring, call);
    }
    return side->writes && !state->stopped && gr_link_is_over(link) ? gr_link_fail_over(ring, call)
                                                                    : GR_OK;
}

/* ---- What this process does ------------------------------------------------------------------ */

/* A frame that was taken goes back to where it was. */
static void untake(struct gr_share_link *link, const struct gr_ring_place *place, uint32_t i)
{
    if (place->before == GR_PLACE_READY)
        put(link, i, word_of(place->frame, GR_OWNER_READY));
}

bool gr_link_claim(gr_ring *ring, const struct gr_ring_side *side, size_t n)
{
    struct gr_share_link *link = gr_link_of(ring);
    const struct gr_ring_place *places = ring->state->places;
    enum gr_owner to = side->writes ? GR_OWNER_PRODUCER : GR_OWNER_CONSUMER;
    for (size_t i = 0; i < n; i++) {
        const struct gr_ring_place *place = &places[side->numbers[i]];
        if (place->before != GR_PLACE_READY || take(link, side->numbers[i], place->frame, to))
            continue;
        while (i-- > 0)
            untake(link, &places[side->numbers[i]], side->numbers[i]);
        return false;
    }
    return true;
}

void gr_link_conclude(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool final)
{
    struct gr_share_link *link = gr_link_of(ring);
    for (size_t i = 0; i < n; i++)
        if (final)
            link->slots[side->numbers[i]].in = 0; /* waited for, once */
        else
            untake(link, &ring->state->places[side->numbers[i]], side->numbers[i]);
    /* Frames that the commit has dropped, because a newer one is read. */
    for (uint32_t i = 0; i < link->count && final && !side->writes; i++)
        if (ring->state->places[i].state == GR_PLACE_FREE &&
            owner_of(link->slots[i].word) == GR_OWNER_READY)
            take(link, i, frame_of(link->slots[i].word), GR_OWNER_DROPPED);
}

void gr_link_push(gr_ring *ring, const struct gr_ring_side *side, size_t n)
{
    struct gr_share_link *link = gr_link_of(ring);
    for (size_t i = 0; i < n; i++) {
        uint32_t number = side->numbers[i];
        struct gr_page_slot *slot = &link->page->slots[number];
        uint64_t frame = ring->state->places[number].frame;
        atomic_store(side->writes ? &slot->written : &slot->given_back, link->slots[number].out);
        put(link, number, word_of(frame, side->writes ? GR_OWNER_READY : GR_OWNER_PRODUCER));
    }
    if (side->writes)
        atomic_store(&link->page->published, ring->state->published);
    gr_link_wake(link, false);
}
