/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The words of the slots in the page that two processes share, beside the states of this process.
 * Each number is read from the page once, checked against the state of this process, and used only
 * as a number. A peer that dies or writes wrong numbers leaves nothing locked.
 */
#include "lib/base/compiler.h"
#include "lib/ring/link/link.h"

#include <sys/socket.h>

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

/* Marks a slot as changed by this process. */
static void mark(struct gr_link *link, uint32_t i)
{
    gr_page_mark(&link->page->changes[gr_link_own(link)], i);
}

/* Makes the next pull read a slot again, as if the peer had marked it. */
static void read_again(struct gr_link *link, uint32_t i)
{
    gr_page_mark(&link->page->changes[gr_link_peers(link)], i);
}

static void put(struct gr_link *link, uint32_t i, uint64_t word)
{
    link->state->slots[i].word = word;
    atomic_store(&link->page->slots[i].word, word);
    mark(link, i);
}

/* Takes a ready frame. False if the peer took it first. */
static bool take(struct gr_link *link, uint32_t i, uint64_t frame, enum gr_owner to)
{
    uint64_t ready = word_of(frame, GR_OWNER_READY), taken = word_of(frame, to);
    if (!atomic_compare_exchange_strong(&link->page->slots[i].word, &ready, taken))
        return false;
    link->state->slots[i].word = taken;
    mark(link, i);
    return true;
}

/* ---- Changes by the peer --------------------------------------------------------------------- */

/*
 * How far a value can be above those before. Vulkan allows no larger steps of a timeline
 * (maxTimelineSemaphoreValueDifference), and the peer counts by one.
 */
#define MOST_STEP INT32_MAX

/*
 * Returns a value of the peer's semaphore in the page. If the value is impossible, the peer counts
 * as gone, and the result is the largest value so far.
 */
static uint64_t read_value(struct gr_link *link, const _Atomic uint64_t *value)
{
    uint64_t read = atomic_load(value);
    if (read <= link->last)
        return read;
    if (read - link->last <= MOST_STEP)
        link->last = read;
    else
        atomic_store(&link->gone, GR_GONE_PAGE);
    return link->last;
}

void gr_link_wake(struct gr_link *link, bool always)
{
    static const char byte = 0;
    bool waits = atomic_exchange(&link->page->waiting[gr_link_peers(link)], 0) != 0;
    if (waits || always)
        send(link->socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

uint64_t gr_link_last_value(struct gr_link *link)
{
    for (uint32_t i = 0; i < link->count; i++) {
        const struct gr_page_slot *slot = &link->page->slots[i];
        read_value(link, link->role == GR_RING_PRODUCER ? &slot->given_back : &slot->written);
    }
    return link->last;
}

/*
 * Records the consumer's last use of the slot, even if that read was cancelled: the next write
 * waits for this use.
 */
static void note_given_back(struct gr_link *link, uint32_t i)
{
    struct gr_ring_slot *slot = &link->state->slots[i];
    uint64_t value = read_value(link, &link->page->slots[i].given_back);
    if (value != slot->given_back)
        slot->given_back = slot->awaited = value;
}

/* Updates the producer's state of a slot. False if no grinterop peer can have made the change. */
static bool pull_as_producer(struct gr_link *link, uint32_t i)
{
    struct gr_ring_slot *slot = &link->state->slots[i];
    if (slot->state != GR_SLOT_READY && slot->state != GR_SLOT_READING)
        return true;
    uint64_t word = atomic_load(&link->page->slots[i].word);
    if (frame_of(word) != slot->api.frame)
        return false;
    slot->word = word;
    if (owner_of(word) == GR_OWNER_READY || owner_of(word) == GR_OWNER_CONSUMER) {
        /* a slot that was being read is ready again if the consumer has cancelled its read */
        gr_ring_state_move(link->state, i,
                           owner_of(word) == GR_OWNER_READY ? GR_SLOT_READY : GR_SLOT_READING);
        return true;
    }
    note_given_back(link, i);
    if (owner_of(word) == GR_OWNER_PRODUCER)
        gr_ring_state_give_back(link->state, 1, &i);
    else
        gr_ring_state_free(link->state, i);
    return true;
}

/*
 * Records a new frame. In GR_RING_NEWEST, drops the frame if it is older than the last frame read.
 */
static void note_ready(struct gr_link *link, uint32_t i, uint64_t frame)
{
    struct gr_ring_state *state = link->state;
    uint64_t value = read_value(link, &link->page->slots[i].written);
    if (frame < state->last_read && state->newest) {
        take(link, i, frame, GR_OWNER_DROPPED);
        return;
    }
    state->slots[i].awaited = value;
    state->slots[i].api.frame = frame;
    gr_ring_state_move(state, i, GR_SLOT_READY);
}

static bool pull_as_consumer(struct gr_link *link, uint32_t i)
{
    struct gr_ring_state *state = link->state;
    struct gr_ring_slot *slot = &state->slots[i];
    uint64_t word = atomic_load(&link->page->slots[i].word), before = slot->word;
    bool is_ready = owner_of(word) == GR_OWNER_READY;
    if (slot->state == GR_SLOT_READING)
        return word == before;
    /* A ready frame in a free slot was dropped while the producer had its slot. */
    if (word == before && (slot->state == GR_SLOT_READY || !is_ready))
        return true;
    if (frame_of(word) < frame_of(before) || owner_of(word) == GR_OWNER_CONSUMER ||
        owner_of(word) == GR_OWNER_DROPPED)
        return false;
    if (slot->state == GR_SLOT_READY) /* the producer has taken back the unread frame */
        gr_ring_state_free(state, i);
    if (is_ready && frame_of(word) > state->written) {
        read_again(link, i); /* this pass may have missed earlier frames */
        return true;
    }
    if (is_ready && gr_ring_state_dropped(state) == 0)
        return false; /* more frames than were written */
    slot->word = word;
    if (is_ready)
        note_ready(link, i, frame_of(word));
    return true;
}

/* Only the producer changes the number of frames, which only grows. */
static bool pull_written(struct gr_link *link)
{
    uint64_t before = link->state->written, written = atomic_load(&link->page->written);
    if (link->role == GR_RING_PRODUCER || written < before)
        return written == before;
    if (written != before)
        link->state->newest_at = gr_page_newest_at(link->page, GR_RING_PRODUCER, link->count);
    link->state->written = written;
    return true;
}

bool gr_link_pull(struct gr_link *link)
{
    bool (*const pull_slot)(struct gr_link * link, uint32_t i) =
        link->role == GR_RING_PRODUCER ? pull_as_producer : pull_as_consumer;
    bool sound = pull_written(link);
    _Atomic uint64_t *const changes = link->page->changes[gr_link_peers(link)].slots;
    const uint32_t words = (link->count + 63) / 64;
    for (uint32_t word = 0; word < words; word++) {
        if (!atomic_load(&changes[word]))
            continue;
        uint64_t bits = atomic_exchange(&changes[word], 0);
        for (; bits && sound; bits &= bits - 1) {
            uint32_t i = word * 64 + GR_LOWEST_BIT(bits);
            sound = i < link->count && pull_slot(link, i);
        }
    }
    if (atomic_load(&link->page->stopped))
        link->state->stopped = true;
    return sound;
}

/* ---- Changes by this process ----------------------------------------------------------------- */

/* Makes a taken frame ready again. */
static void put_back(struct gr_link *link, uint32_t i)
{
    const struct gr_ring_slot *slot = &link->state->slots[i];
    if (slot->before == GR_SLOT_READY)
        put(link, i, word_of(slot->api.frame, GR_OWNER_READY));
}

bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    enum gr_owner to = side->writes ? GR_OWNER_PRODUCER : GR_OWNER_CONSUMER;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = side->numbers[i];
        const struct gr_ring_slot *slot = &link->state->slots[number];
        if (slot->before != GR_SLOT_READY)
            continue;
        if (take(link, number, slot->api.frame, to)) {
            if (side->writes)
                note_given_back(link, number);
            continue;
        }
        read_again(link, number); /* the peer may not have marked its change yet */
        while (i-- > 0)
            put_back(link, side->numbers[i]);
        if (n > 1)
            gr_link_wake(link, false); /* frames that were claimed are available again */
        return false;
    }
    return true;
}

/* Marks in the page the frames that the state has dropped because the consumer reads a newer one.
 */
static void mark_dropped(struct gr_link *link)
{
    if (!link->state->newest)
        return;
    GR_FOR_SLOTS_IN(i, link->state, GR_SLOT_FREE)
    {
        uint64_t word = link->state->slots[i].word;
        if (owner_of(word) == GR_OWNER_READY)
            take(link, i, frame_of(word), GR_OWNER_DROPPED);
    }
}

void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final)
{
    for (size_t i = 0; i < n; i++)
        if (final)
            /* the use waits for the value, so the next use need not */
            link->state->slots[side->numbers[i]].awaited = 0;
        else
            put_back(link, side->numbers[i]);
    if (final && !side->writes)
        mark_dropped(link);
    if (!final)
        gr_link_wake(link, false); /* frames may be available again */
}

void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread)
{
    const enum gr_owner owner = side->writes || unread ? GR_OWNER_READY : GR_OWNER_PRODUCER;
    for (size_t i = 0; i < n; i++) {
        struct gr_page_slot *of_page = &link->page->slots[side->numbers[i]];
        const struct gr_ring_slot *slot = &link->state->slots[side->numbers[i]];
        atomic_store(side->writes ? &of_page->written : &of_page->given_back, slot->signalled);
        put(link, side->numbers[i], word_of(slot->api.frame, owner));
    }
    if (side->writes) {
        gr_page_set_newest_at(link->page, link->role, link->count, link->state->newest_at);
        atomic_store(&link->page->written, link->state->written);
    } else if (unread) {
        mark_dropped(link);
    }
    gr_link_wake(link, false);
}
