/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The slots of a ring in this process: their states, and the choice of the next one. These
 * functions do not map, wait or lock; the caller serializes their calls.
 *
 * An acquire has two steps, because the work between them may fail: a claim takes the slots; then a
 * commit makes the claim final, or an undo restores the state. Only the commit drops frames.
 */
#ifndef GR_LIB_RING_SLOT_STATE_H
#define GR_LIB_RING_SLOT_STATE_H

#include <stdbool.h>

#include <grinterop/ring.h>

/* The maximum number of slots, with those that a resize has replaced and that have not ended yet.
 */
#define GR_RING_MOST_SLOTS 1024

enum gr_slot_state {
    GR_SLOT_NONE = 0, /* the number is unused */
    GR_SLOT_FREE,
    GR_SLOT_WRITING, /* acquired by the producer */
    GR_SLOT_READY,   /* handed over, and not read yet */
    GR_SLOT_READING, /* acquired by the consumer */
    GR_SLOT_LEFT,    /* replaced by a resize, and free: its resource can leave the ring */
    GR_SLOT_ENDING,  /* its resource is leaving the ring */
    GR_SLOT_STATES
};

/* A slot. Its number is its index in the array; only gr_ring_state_renumber() changes the number.
 */
struct gr_ring_slot {
    /*
     * The slot as the application sees it. `buffer` and `submit` are set while CUDA or Vulkan uses
     * the slot; several slots may share a submit. While the frame is being written, `frame` is the
     * expected number.
     */
    gr_slot api;
    uint8_t state;  /* enum gr_slot_state */
    uint8_t before; /* the state before the claim */
    bool listed;    /* temporary mark during a call with many slots: the slot was seen */
    uint64_t turn;  /* the order in which slots became free, and in which they are taken */
    CUevent after;  /* of a slot that has left: an event after the submits that use it, or NULL */

    /* In a shared ring: */
    uint64_t word;       /* the word in the page as it was last read or written */
    uint64_t given_back; /* the value in the page as last read, because only new ones are awaited */
    uint64_t awaited; /* the value of the peer's semaphore to wait for before the next use; or 0 */
    uint64_t signalled; /* the value of this process's semaphore that the peer has to wait for */
};

/* A set of slots, one bit each. */
struct gr_slot_set {
    uint64_t words[GR_RING_MOST_SLOTS / 64];
};

struct gr_ring_state {
    bool newest;      /* whether the mode is GR_RING_NEWEST */
    bool stopped;     /* whether the ring was stopped: no more writes */
    uint32_t count;   /* the number of slots that no resize has replaced */
    uint32_t leaving; /* the number of replaced slots that are still in use */
    uint32_t words;   /* the words of the sets that may have bits */
    uint64_t written, read;
    uint64_t newest_at;       /* when the newest frame was handed over, by gr_clock_ns(); or 0 */
    uint64_t last_read;       /* the newest frame that was read and whose read was not cancelled */
    uint64_t last_given_back; /* the newest frame that was given back */
    uint64_t last_turn;
    uint32_t next[2];                /* where the search for slots to write and to read begins */
    uint32_t counts[GR_SLOT_STATES]; /* how many slots are in each state; not of NONE */
    uint64_t lowest[GR_SLOT_STATES]; /* no slot that may be taken has a lower key: key_of() */
    struct gr_slot_set in[GR_SLOT_STATES]; /* the slots of each state, without NONE */
    struct gr_slot_set replaced;           /* the slots that a resize has replaced */
    struct gr_ring_slot slots[GR_RING_MOST_SLOTS];
};

/* One side of a ring, and the slots of its current call, so that calls do not allocate. */
struct gr_ring_side {
    bool writes;  /* true: the side of the producer; false: of the consumer */
    bool is_cuda; /* true: CUDA; false: the graphics API */
    uint32_t numbers[GR_RING_MOST_SLOTS];
    gr_resource *resources[GR_RING_MOST_SLOTS];
    gr_buffer *buffers[GR_RING_MOST_SLOTS];
    gr_submit *submits[GR_RING_MOST_SLOTS];
};

/* Returns the first slot of the set from this number on; GR_RING_MOST_SLOTS if there is none. */
uint32_t gr_slot_set_next(const struct gr_ring_state *state, const struct gr_slot_set *set,
                          uint32_t from);

/* Calls the statement after it for each slot of a state, in the order of numbers. */
#define GR_FOR_SLOTS_IN(i, state, what)                                                            \
    for (uint32_t i = gr_slot_set_next(state, &(state)->in[what], 0); i < GR_RING_MOST_SLOTS;      \
         i = gr_slot_set_next(state, &(state)->in[what], i + 1))

/* Sets the state of a slot. A replaced slot that becomes FREE is LEFT instead. */
void gr_ring_state_move(struct gr_ring_state *state, uint32_t number, enum gr_slot_state into);

/* Adds n free slots with these resources. There must be room. */
void gr_ring_state_add(struct gr_ring_state *state, gr_resource *const resources[], size_t n);

/* Whether the number has a slot that no resize has replaced. */
bool gr_ring_state_stays(const struct gr_ring_state *state, uint32_t number);

/* How many slots can be added. */
uint32_t gr_ring_state_room(const struct gr_ring_state *state);

/* Gives a free slot an unused number. The old number must no longer be in use anywhere. */
void gr_ring_state_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to);

/* Marks all slots as replaced: their current use goes on, but they are not written again. */
void gr_ring_state_replace(struct gr_ring_state *state);

/* The number of slots that a claim to write to or to read can take. */
uint32_t gr_ring_state_claimable(const struct gr_ring_state *state, bool writes);

/*
 * Claims n slots: to write to, the oldest first, or frames to read, in the order of frames. False:
 * fewer are available, and nothing has changed.
 */
bool gr_ring_state_claim(struct gr_ring_state *state, bool writes, size_t n, uint32_t numbers[]);
void gr_ring_state_commit(struct gr_ring_state *state, bool writes, size_t n,
                          const uint32_t numbers[]);
void gr_ring_state_undo(struct gr_ring_state *state, bool writes, size_t n,
                        const uint32_t numbers[]);

/*
 * gr_ring_state_hand_over() turns written slots into frames, in this order.
 * gr_ring_state_cancel_write() and gr_ring_state_give_back() make slots free.
 */
void gr_ring_state_hand_over(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_cancel_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_give_back(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/*
 * Makes frames unread again, at their place in the order. In GR_RING_NEWEST, drops a frame if a
 * newer frame has been read or is being read.
 */
void gr_ring_state_cancel_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/* Makes a slot free. An unread frame in it is dropped. */
void gr_ring_state_free(struct gr_ring_state *state, uint32_t number);

/* How many frames are neither read nor in a slot. Either side of the ring drops frames. */
uint64_t gr_ring_state_dropped(const struct gr_ring_state *state);

/* Writes all numbers but the age. */
void gr_ring_state_info(const struct gr_ring_state *state, gr_ring_info *info);

#endif
