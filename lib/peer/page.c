/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The page that two processes share for a ring: the owner of each slot. Each number is read from
 * the page once, checked against the state of this process, and used only as a number. A peer that
 * dies or writes wrong numbers leaves nothing locked.
 */
#define _GNU_SOURCE
#include "lib/peer/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/error.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics must work across processes");

/* ---- Creating and mapping -------------------------------------------------------------------- */

static size_t size_of(uint32_t slots)
{
    return sizeof(struct gr_page) + slots * sizeof(struct gr_page_slot);
}

int gr_page_create(uint32_t slots, const char *call)
{
    int fd = memfd_create("grinterop ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)size_of(slots)) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    gr_fail_errno(
        errno, call,
        "Cannot create the ring's page, perhaps for lack of file descriptors (ulimit -n)");
    if (fd >= 0)
        close(fd);
    return -1;
}

/*
 * Checks the seals before the size: without seals the peer could shrink the file after the size was
 * checked.
 */
static bool is_sealed(int fd, size_t size)
{
    struct stat file;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &file) == 0 &&
           S_ISREG(file.st_mode) && file.st_size == (off_t)size;
}

gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page, const char *call)
{
    size_t size = size_of(slots);
    if (!is_sealed(fd, size))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The descriptor received for the ring's page is not sealed memory of the "
                       "right size (%zu): grinterop did not send it.",
                       size);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return gr_fail_errno(errno, call, "Cannot map the ring's page");
    *page = mapped;
    return GR_OK;
}

void gr_page_unmap(struct gr_page *page, uint32_t slots)
{
    if (page)
        munmap(page, size_of(slots));
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

static void put(struct gr_page_view *view, uint32_t i, uint64_t word)
{
    view->state->slots[i].word = word;
    atomic_store(&view->page->slots[i].word, word);
    gr_page_mark(view->mine, i);
}

/* Takes a ready frame. False if the peer took it first. */
static bool take(struct gr_page_view *view, uint32_t i, uint64_t frame, enum gr_owner to)
{
    uint64_t ready = word_of(frame, GR_OWNER_READY), taken = word_of(frame, to);
    if (!atomic_compare_exchange_strong(&view->page->slots[i].word, &ready, taken))
        return false;
    view->state->slots[i].word = taken;
    gr_page_mark(view->mine, i);
    return true;
}

/* ---- Changes by the peer --------------------------------------------------------------------- */

/*
 * How far a value can be above those before. Vulkan allows no larger steps of a timeline
 * (maxTimelineSemaphoreValueDifference), and the peer counts by one.
 */
#define MOST_STEP INT32_MAX

uint64_t gr_page_value(struct gr_page_view *view, const _Atomic uint64_t *value)
{
    uint64_t read = atomic_load(value);
    if (read <= view->last)
        return read;
    if (read - view->last <= MOST_STEP)
        view->last = read;
    else
        view->overwritten = true;
    return view->last;
}

/*
 * Records the consumer's last use of the slot, even if that read was cancelled: the next write
 * waits for this use.
 */
static void note_given_back(struct gr_page_view *view, uint32_t i)
{
    struct gr_ring_slot *slot = &view->state->slots[i];
    uint64_t value = gr_page_value(view, &view->page->slots[i].given_back);
    if (value != slot->given_back)
        slot->given_back = slot->awaited = value;
}

/* Updates the producer's state of a slot. False if no grinterop peer can have made the change. */
static bool pull_as_producer(struct gr_page_view *view, uint32_t i)
{
    struct gr_ring_slot *slot = &view->state->slots[i];
    if (slot->state != GR_SLOT_READY && slot->state != GR_SLOT_READING)
        return true;
    uint64_t word = atomic_load(&view->page->slots[i].word);
    if (frame_of(word) != slot->api.frame)
        return false;
    slot->word = word;
    if (owner_of(word) == GR_OWNER_READY || owner_of(word) == GR_OWNER_CONSUMER) {
        /* a slot that was being read is ready again if the consumer has cancelled its read */
        gr_ring_state_move(view->state, i,
                           owner_of(word) == GR_OWNER_READY ? GR_SLOT_READY : GR_SLOT_READING);
        return true;
    }
    note_given_back(view, i);
    if (owner_of(word) == GR_OWNER_PRODUCER)
        gr_ring_state_give_back(view->state, 1, &i);
    else
        gr_ring_state_drop(view->state, i);
    return true;
}

/*
 * Records a new frame. In GR_RING_NEWEST, drops the frame if it is older than the last frame read.
 */
static void note_ready(struct gr_page_view *view, uint32_t i, uint64_t frame)
{
    struct gr_ring_state *state = view->state;
    uint64_t value = gr_page_value(view, &view->page->slots[i].written);
    if (frame < state->last_read && state->newest) {
        if (take(view, i, frame, GR_OWNER_DROPPED))
            state->dropped++;
        return;
    }
    state->slots[i].awaited = value;
    state->slots[i].api.frame = frame;
    gr_ring_state_move(state, i, GR_SLOT_READY);
}

static bool pull_as_consumer(struct gr_page_view *view, uint32_t i)
{
    struct gr_ring_state *state = view->state;
    struct gr_ring_slot *slot = &state->slots[i];
    uint64_t word = atomic_load(&view->page->slots[i].word), before = slot->word;
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
        gr_ring_state_drop(state, i);
    if (is_ready && frame_of(word) > state->written) {
        /* this frame is read at the next pull, because this pass may have missed earlier frames */
        gr_page_mark(view->theirs, i);
        return true;
    }
    slot->word = word;
    if (is_ready)
        note_ready(view, i, frame_of(word));
    return true;
}

/* Only the producer changes the number of frames, which only grows. */
static bool pull_written(struct gr_page_view *view, const struct gr_ring_side *side)
{
    uint64_t before = view->state->written, written = atomic_load(&view->page->written);
    if (side->writes)
        return written == before;
    view->state->written = written;
    return written >= before;
}

bool gr_page_pull(struct gr_page_view *view, const struct gr_ring_side *side)
{
    bool sound = pull_written(view, side);
    for (uint32_t word = 0; word * 64 < view->count; word++) {
        _Atomic uint64_t *changes = &view->theirs->slots[word];
        uint64_t bits = atomic_load(changes) ? atomic_exchange(changes, 0) : 0;
        for (; bits && sound; bits &= bits - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);
            sound = i < view->count &&
                    (side->writes ? pull_as_producer(view, i) : pull_as_consumer(view, i));
        }
    }
    if (atomic_load(&view->page->stopped))
        view->state->stopped = true;
    return sound && !view->overwritten;
}

/* ---- Changes by this process ----------------------------------------------------------------- */

/* Makes a taken frame ready again. */
static void put_back(struct gr_page_view *view, uint32_t i)
{
    const struct gr_ring_slot *slot = &view->state->slots[i];
    if (slot->before == GR_SLOT_READY)
        put(view, i, word_of(slot->api.frame, GR_OWNER_READY));
}

bool gr_page_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n)
{
    enum gr_owner to = side->writes ? GR_OWNER_PRODUCER : GR_OWNER_CONSUMER;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = side->numbers[i];
        const struct gr_ring_slot *slot = &view->state->slots[number];
        if (slot->before != GR_SLOT_READY)
            continue;
        if (take(view, number, slot->api.frame, to)) {
            if (side->writes)
                note_given_back(view, number);
            continue;
        }
        gr_page_mark(view->theirs, number); /* the peer may not have marked its change yet */
        while (i-- > 0)
            put_back(view, side->numbers[i]);
        return false;
    }
    return true;
}

/* Marks in the page the frames that the state has dropped because the consumer reads a newer one.
 */
static void mark_dropped(struct gr_page_view *view)
{
    if (!view->state->newest)
        return;
    GR_FOR_SLOTS_IN(i, view->state, GR_SLOT_FREE)
    {
        uint64_t word = view->state->slots[i].word;
        if (owner_of(word) == GR_OWNER_READY)
            take(view, i, frame_of(word), GR_OWNER_DROPPED);
    }
}

void gr_page_finish_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n,
                          bool final)
{
    for (size_t i = 0; i < n; i++)
        if (final)
            /* the use waits for the value, so the next use need not */
            view->state->slots[side->numbers[i]].awaited = 0;
        else
            put_back(view, side->numbers[i]);
    if (final && !side->writes)
        mark_dropped(view);
}

void gr_page_push(struct gr_page_view *view, const struct gr_ring_side *side, size_t n,
                  enum gr_owner owner)
{
    for (size_t i = 0; i < n; i++) {
        struct gr_page_slot *of_page = &view->page->slots[side->numbers[i]];
        const struct gr_ring_slot *slot = &view->state->slots[side->numbers[i]];
        atomic_store(side->writes ? &of_page->written : &of_page->given_back, slot->signalled);
        put(view, side->numbers[i], word_of(slot->api.frame, owner));
    }
    if (side->writes)
        atomic_store(&view->page->written, view->state->written);
    else if (owner == GR_OWNER_READY)
        mark_dropped(view);
}
