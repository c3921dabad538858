/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A SPIN model of a ring that threads of one process share: acquire.c, hand_over.c, ring.c,
 * slot_state.c, slot_life.c and descriptor.c in lib/ring. All work under the ring's lock is one
 * step. Maps and graphics calls are separate steps, so that other threads may run in between.
 * tests/model/check-model runs it.
 *
 * -DNEWEST    GR_RING_NEWEST; else GR_RING_LOSSLESS
 * -DWRITES=n  the producer acquires n slots at once; -DREADS=n: the consumer n frames
 * -DFAILS=n   n begins of a use fail, and are retried
 * -DRESTS=n   n times a thread pauses before an acquire until all others are idle. The others must
 *             not wait then for slots that are available
 * -DCANCELS=n n hand-overs are cancels
 * -DRESIZES   a thread resizes the ring, at any step
 * -DSTOPS     a thread stops the ring, at any step
 * -DPOLLS     from some step on, either side polls its descriptor instead of waiting in an acquire
 *
 * An assertion fails if a frame is lost or read twice, if both sides hold a slot, or if a leaving
 * slot is written. An endless wait is an invalid end state.
 */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FRAMES
#define FRAMES 4
#endif
#ifndef WRITES
#define WRITES 1
#endif
#ifndef READS
#define READS 1
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef RESTS
#define RESTS 0
#endif
#define MOST 5 /* slots per group; the consumer's groups have 2 */

#ifdef RESIZES
#define PLACES (2 * SLOTS)
#else
#define PLACES SLOTS
#endif

#define PRODUCER 0
#define CONSUMER 1

/* ---- The ring (struct gr_ring_state) --------------------------------------------------------- */

/* The values of enum gr_slot_state. A slot that has left the ring is NONE. */
#define NONE 0
#define FREE 1
#define WRITING 2
#define READY 3
#define READING 4

byte state[PLACES];
byte before[PLACES];
byte frame[PLACES];
bool leaving[PLACES];
byte written, last_read, last_given_back;
bool stopped;
bool asleep[2];   /* the side sleeps in pthread_cond_wait() or in poll() */
bool polls[2];    /* the side has a descriptor and polls it */
bool readable[2]; /* the descriptor is readable */

/* ---- For the checks, not part of the library ------------------------------------------------- */

byte content[PLACES]; /* the number of the frame in a slot */
bool used[2 * PLACES];
byte fails = FAILS;
byte cancels = CANCELS;
byte rests = RESTS;

#define USED(p, i) used[(p) * PLACES + (i)]

/* ---- Counting, for steps under the lock ------------------------------------------------------ */

/* Sets `counted` to the number of slots in that state, without leaving slots. */
inline count_staying(what)
{
    at = 0;
    counted = 0;
    do
    :: at < PLACES ->
        counted = counted + (state[at] == what && !leaving[at] -> 1 : 0);
        at++
    :: else -> at = 0; break
    od
}

/* Like count_staying(), with leaving slots. */
inline count(what)
{
    at = 0;
    counted = 0;
    do
    :: at < PLACES -> counted = counted + (state[at] == what -> 1 : 0); at++
    :: else -> at = 0; break
    od
}

/* ---- Notifying (ring.c, descriptor.c) -------------------------------------------------------- */

/* gr_ring_update_pollers() with available() */
inline update_pollers()
{
    count(READY);
    readable[CONSUMER] = stopped || counted > 0;
    count_staying(FREE);
    readable[PRODUCER] = stopped || counted > 0;
#ifdef NEWEST
    count_staying(READY);
    readable[PRODUCER] = readable[PRODUCER] || counted > 0;
#endif
}

inline tell()
{
    update_pollers();
    asleep[PRODUCER] = asleep[PRODUCER] && polls[PRODUCER] && !readable[PRODUCER];
    asleep[CONSUMER] = asleep[CONSUMER] && polls[CONSUMER] && !readable[CONSUMER]
}

/* ---- Acquire (acquire.c) --------------------------------------------------------------------- */

/* list_writable() in slot_state.c: any free slot, since the model does not distinguish them.
 * Without a free slot, the slot of the oldest frame. */
inline claim_one_to_write(i)
{
    at = 0;
    hand[i] = PLACES;
    do
    :: at < PLACES ->
        if
#ifdef WRITE_WHAT_LEAVES
        :: state[at] == FREE -> hand[i] = at; break
#else
        :: state[at] == FREE && !leaving[at] -> hand[i] = at; break
#endif
#ifdef NEWEST
        :: state[at] == READY && !leaving[at] &&
           (hand[i] == PLACES || frame[at] < frame[hand[i]]) -> hand[i] = at
#endif
        :: else
        fi;
        at++
    :: else -> break
    od;
    at = 0
}

/* Claims the oldest frame, or the newest with NEWEST. */
inline claim_one_to_read(i)
{
    at = 0;
    hand[i] = PLACES;
    do
    :: at < PLACES ->
        if
#ifdef NEWEST
        :: state[at] == READY && (hand[i] == PLACES || frame[at] > frame[hand[i]]) -> hand[i] = at
#else
        :: state[at] == READY && (hand[i] == PLACES || frame[at] < frame[hand[i]]) -> hand[i] = at
#endif
        :: else
        fi;
        at++
    :: else -> at = 0; break
    od
}

/* the results of try_to_claim() in acquire.c */
#define MADE 0
#define NONE_READY 1
#define STOPPED 2

/* gr_ring_state_claim(), as try_to_claim() in acquire.c calls it */
inline look(p, n)
{
    if
    :: p == PRODUCER ->
        count_staying(FREE);
        there = counted;
#ifdef NEWEST
        count_staying(READY);
        there = there + counted
#endif
    :: else -> count(READY); there = counted
    fi;
    if
    :: p == PRODUCER && stopped -> found = STOPPED
    :: !(p == PRODUCER && stopped) && there < n ->
        found = (stopped -> STOPPED : NONE_READY);
#ifndef NEWEST
        assert(found != STOPPED || n > 1 || last_given_back == written) /* all frames were read */
#endif
    :: else ->
        found = MADE;
        in_hand = 0;
        do
        :: in_hand < n ->
            if
            :: p == PRODUCER -> claim_one_to_write(in_hand)
            :: else -> claim_one_to_read(in_hand)
            fi;
            assert(hand[in_hand] < PLACES);
            before[hand[in_hand]] = state[hand[in_hand]];
            state[hand[in_hand]] = (p == PRODUCER -> WRITING : READING);
            assert(!USED(1 - p, hand[in_hand])); /* both sides must never use the same slot */
            assert(p == CONSUMER || !leaving[hand[in_hand]]);
            USED(p, hand[in_hand]) = true;
            in_hand++
        :: else -> break
        od
    fi
}

/* claim() in acquire.c: with the timeout GR_WAIT_FOREVER, or with 0 if the side polls. */
inline claim(p, n)
{
#ifdef POLLS
    if
    :: !polls[p] -> d_step { polls[p] = true; update_pollers() } /* gr_ring_descriptor() */
    :: true
    fi;
#endif
    if
    :: atomic { polls[p] -> asleep[p] = !readable[p] }; !asleep[p] /* poll() */
    :: else
    fi;
    do
    :: d_step {
            look(p, n);
            asleep[p] = found == NONE_READY
        };
        if
        :: found != NONE_READY -> break
        :: found == NONE_READY && polls[p] -> /* acquire() */
            d_step { update_pollers(); asleep[p] = !readable[p] };
            !asleep[p]
        :: else -> !asleep[p]
        fi
    od
}

/* Checks at rest that no thread sleeps that could continue. */
inline rest(p)
{
    timeout;
    d_step {
        count(READY);
        assert(p == CONSUMER || !asleep[CONSUMER] || counted < READS);
        count_staying(FREE);
        there = counted;
#ifdef NEWEST
        count_staying(READY);
        there = there + counted;
#endif
        assert(p == PRODUCER || !asleep[PRODUCER] || there < WRITES)
    }
}

/* drop_older() in slot_state.c */
inline drop_older(limit)
{
    at = 0;
    do
    :: at < PLACES ->
        if
        :: state[at] == READY && frame[at] < limit -> state[at] = FREE
        :: else
        fi;
        at++
    :: else -> at = 0; break
    od
}

/* gr_ring_state_undo() in slot_state.c */
inline undo(p, n)
{
    in_hand = 0;
    do
    :: in_hand < n ->
        USED(p, hand[in_hand]) = false;
        state[hand[in_hand]] = before[hand[in_hand]];
        if
#ifndef UNDO_BLINDLY
        :: p == PRODUCER && state[hand[in_hand]] == READY &&
           frame[hand[in_hand]] < last_read -> state[hand[in_hand]] = FREE
#endif
        :: else
        fi;
        in_hand++
    :: else -> break
    od
}

/* commit_write() in slot_state.c: drops the frames of leaving slots that are older than an
 * overwritten frame. */
inline commit_write(n)
{
    in_hand = 0;
    do
    :: in_hand < n ->
        if
        :: before[hand[in_hand]] == READY -> drop_older(frame[hand[in_hand]])
        :: else
        fi;
        in_hand++
    :: else -> break
    od
}

/* gr_ring_state_commit() in slot_state.c. With GR_RING_NEWEST it reads one frame. */
inline commit_read(n)
{
    last_read = frame[hand[n - 1]];
#ifdef NEWEST
    drop_older(last_read)
#endif
}

/* begin_use() and finish_claim() in acquire.c. Sets `failed`. */
inline begin_use(p, n)
{
    if
    :: atomic { fails > 0 -> failed = true; fails-- }
    :: failed = false
    fi;
    d_step {
        if
        :: failed -> undo(p, n)
        :: !failed && p == PRODUCER -> commit_write(n)
        :: else -> commit_read(n)
        fi;
#ifdef FORGET_TELL_OF_UNDO
        if
        :: !failed -> tell()
        :: else
        fi
#else
        tell()
#endif
    };
    end_left()
}

/* ---- The end of slots (slot_life.c) ---------------------------------------------------------- */

/* gr_ring_end_left(): removes the leaving slots that are free. */
inline end_left()
{
    d_step {
        at = 0;
        do
        :: at < PLACES ->
            if
            :: state[at] == FREE && leaving[at] -> state[at] = NONE; leaving[at] = false
            :: else
            fi;
            at++
        :: else -> at = 0; break
        od
    }
}

/* ---- Resize and stop (ring.c) ---------------------------------------------------------------- */

/* gr_ring_resize() with gr_ring_state_replace() and gr_ring_state_add() */
inline resize()
{
    d_step {
        at = 0;
        do
        :: at < PLACES ->
            if
            :: state[at] == NONE -> state[at] = FREE
            :: else -> leaving[at] = true
            fi;
            at++
        :: else -> at = 0; break
        od;
#ifndef FORGET_TELL_OF_RESIZE
        tell();
#endif
    };
    end_left()
}

#ifdef RESIZES
proctype resizer()
{
    byte at, counted;
    resize()
}
#endif

#ifdef STOPS
proctype stopper()
{
    byte at, counted;
    d_step { stopped = true; tell() }
}
#endif

/* ---- The producer ---------------------------------------------------------------------------- */

inline choose_cancel()
{
    if
    :: atomic { cancels > 0 -> cancel = true; cancels-- }
    :: cancel = false
    fi
}

/* gr_ring_hand_over() and gr_ring_cancel_write() in hand_over.c */
inline hand_over_written(n)
{
    choose_cancel();
    d_step {
        in_hand = 0;
        do
        :: in_hand < n ->
            USED(PRODUCER, hand[in_hand]) = false;
            if
            :: cancel -> state[hand[in_hand]] = FREE
            :: else ->
                written++;
                frame[hand[in_hand]] = written;
                content[hand[in_hand]] = written;
                state[hand[in_hand]] = READY
            fi;
            in_hand++
        :: else -> break
        od;
#ifndef FORGET_TELL_OF_PUBLISH
        tell()
#endif
    };
    end_left()
}

proctype producer()
{
    byte at, counted, there, found, in_hand, n;
    byte hand[MOST];
    bool failed, cancel;
    do
    :: atomic { written < FRAMES && rests > 0 -> rests-- }; rest(PRODUCER)
    :: written < FRAMES ->
        n = (FRAMES - written < WRITES -> FRAMES - written : WRITES);
        claim(PRODUCER, n);
        if
        :: found == STOPPED -> break
        :: else
        fi;
        begin_use(PRODUCER, n);
        if
        :: !failed -> hand_over_written(n)
        :: else
        fi
    :: else -> break
    od
}

/* ---- The consumer ---------------------------------------------------------------------------- */

/* Checks that each slot contains its frame. */
inline read_frames(n)
{
    in_hand = 0;
    do
    :: in_hand < n ->
        assert(content[hand[in_hand]] == frame[hand[in_hand]]);
#ifdef NEWEST
        assert(frame[hand[in_hand]] > last_given_back);
#else
        assert(frame[hand[in_hand]] == last_given_back + 1 + in_hand);
#endif
        in_hand++
    :: else -> break
    od
}

/* gr_ring_state_cancel_read() in slot_state.c. The consumer reads one group at a time. */
inline cancel_read(n)
{
    in_hand = 0;
    do
    :: in_hand < n ->
        state[hand[in_hand]] = READY;
        USED(CONSUMER, hand[in_hand]) = false;
        in_hand++
    :: else -> break
    od;
    last_read = last_given_back;
#ifdef NEWEST
    drop_older(last_read)
#endif
}

/* gr_ring_state_give_back() in slot_state.c */
inline give_back(n)
{
    in_hand = 0;
    do
    :: in_hand < n ->
        last_given_back = frame[hand[in_hand]];
        state[hand[in_hand]] = FREE;
        USED(CONSUMER, hand[in_hand]) = false;
        in_hand++
    :: else -> break
    od
}

/* gr_ring_give_back() and gr_ring_cancel_read() in hand_over.c */
inline hand_over_read(n)
{
    choose_cancel();
    d_step { read_frames(n) };
    d_step {
        if
        :: cancel -> cancel_read(n)
        :: else -> give_back(n)
        fi;
#ifndef FORGET_TELL_OF_GIVE_BACK
        tell()
#endif
    };
    end_left()
}

proctype consumer()
{
    byte at, counted, there, found, in_hand, n;
    byte hand[MOST];
    bool failed, cancel;
    do
    :: atomic { last_given_back < FRAMES && rests > 0 -> rests-- }; rest(CONSUMER)
    :: last_given_back < FRAMES ->
        n = (FRAMES - last_given_back < READS -> FRAMES - last_given_back : READS);
        claim(CONSUMER, n);
        if
        :: found == STOPPED -> break
        :: else
        fi;
        begin_use(CONSUMER, n);
        if
        :: !failed -> hand_over_read(n)
        :: else
        fi
    :: else -> break
    od
}

init
{
    byte i;
    atomic {
        do
        :: i < SLOTS -> state[i] = FREE; i++
        :: else -> break
        od;
        i = 0;
        run producer();
        run consumer();
#ifdef RESIZES
        run resizer();
#endif
#ifdef STOPS
        run stopper();
#endif
    };
    /* All threads have ended: no slot may be in use, and all leaving slots must have left. */
    _nr_pr == 1;
    do
    :: i < PLACES ->
        assert(!USED(PRODUCER, i) && !USED(CONSUMER, i));
        assert(!leaving[i] || state[i] == READY);
        i++
    :: else -> break
    od
}
