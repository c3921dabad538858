/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A SPIN model of a ring that two processes share: lib/ring/link/slot_words.c, link.c and watch.c
 * below the acquires of acquire.c and the hand-overs of hand_over.c. Each access to the page is one
 * step, so that the other process may run in between. Changes that the ring's lock hides from other
 * threads belong to the same step. tests/model/check-model runs it.
 *
 * The processes interact through the page, the bytes in the socket and the end of the socket,
 * whether CUDA or graphics produces. The model omits which stream or submit waits for which
 * semaphore value, and the signals of gr_link_serve() for a dead peer.
 *
 * -DNEWEST  GR_RING_NEWEST; else GR_RING_LOSSLESS
 * -DFAILS=n n begins of a use fail. The failed side retries, or pauses until all others are idle.
 *           The other side must not wait then for slots that are available
 * -DCANCELS=n n hand-overs are cancels
 * -DSTOPS   a thread of either process stops the ring, at any step
 * -DDIES    either process is killed, at any step
 *
 * An assertion fails if a frame is lost or read twice, or if both sides hold a slot. An endless
 * wait is an invalid end state.
 */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FRAMES
#define FRAMES 2
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#define ATTEMPTS 2 /* MOST_ATTEMPTS of acquire.c, which is larger */

#define PRODUCER 0
#define CONSUMER 1
#define PEER(p) (1 - (p))

/* ---- The page, the sockets and the processes (struct gr_page, page.h) ------------------------ */

/* enum gr_owner */
#define OWNER_PRODUCER 0
#define OWNER_READY 1
#define OWNER_CONSUMER 2
#define OWNER_DROPPED 3
#define WORD(frame, owner) ((frame) * 4 + (owner))
#define FRAME(word) ((word) / 4)
#define OWNER(word) ((word) % 4)

byte word[SLOTS];
byte written;
bool changed[2 * SLOTS]; /* struct gr_page_changes of the producer and of the consumer */
bool page_stopped;
bool ended[2];
bool waiting[2];

bool bytes[2];  /* the process has bytes to receive, whatever their number */
bool closed[2]; /* the peer has closed the socket, or was killed and the kernel has closed it */
bool dead[2];

/* ---- State of one process -------------------------------------------------------------------- */

/* enum gr_slot_state */
#define FREE 0
#define WRITING 1
#define READY 2
#define READING 3

typedef Process {
    byte state[SLOTS];
    byte before[SLOTS];
    byte frame[SLOTS];
    byte seen[SLOTS];
    byte written;
    byte last_read;
    byte last_given_back;
    bool stopped;

    bool locked; /* ring->lock */
    bool asleep; /* in pthread_cond_wait() */
    bool gone;   /* watch->gone */
    bool quit;   /* watch->quit */
    bool watch_ended;
    bool resting;
};
Process own[2];

/* ---- For the checks, not part of the library ------------------------------------------------- */

bool used[2 * SLOTS]; /* whether a side uses a slot */
byte content[SLOTS];  /* the number of the frame in a slot */
byte fails = FAILS;
byte cancels = CANCELS;

#define USED(p, i) used[(p) * SLOTS + (i)]

inline begin_look(p, i)
{
    assert(!USED(PEER(p), i)); /* both sides must never use the same slot */
    USED(p, i) = true
}

/* ---- Waking ---------------------------------------------------------------------------------- */

inline lock(p) { atomic { !own[p].locked -> own[p].locked = true } }
inline unlock(p) { own[p].locked = false }

/* gr_ring_notify() in ring.c. The caller holds the lock. */
inline tell(p) { own[p].asleep = false }

/* pthread_cond_wait() in claim() of acquire.c, with GR_WAIT_FOREVER. */
inline sleep(p)
{
#ifdef SLEEP_LATE
    unlock(p);
    own[p].asleep = true;
#else
    d_step { own[p].asleep = true; own[p].locked = false };
#endif
    !own[p].asleep;
    lock(p)
}

/* gr_link_wake() in slot_words.c: the exchange of the flag is one step, the send is another. */
inline wake(p, always)
{
#ifndef FORGET_WAKE
    d_step { waits = waiting[PEER(p)]; waiting[PEER(p)] = false };
    if
    :: waits || always -> bytes[PEER(p)] = true
    :: else
    fi
#else
    skip
#endif
}

/* gone() in link.c */
#define IS_OVER(p) (own[p].gone || ended[PEER(p)])

/* ---- The page's words (slot_words.c) --------------------------------------------------------- */

/* gr_page_mark() in page.h, in a step after the change */
#define CHANGED(p, i) changed[(p) * SLOTS + (i)]

/* take() in slot_words.c: a compare-and-exchange out of READY. The caller marks the change. */
inline take(p, i, owner)
{
    d_step {
        if
#ifdef TAKE_BLINDLY
        :: true ->
#else
        :: word[i] == WORD(own[p].frame[i], OWNER_READY) ->
#endif
            word[i] = WORD(own[p].frame[i], owner);
            own[p].seen[i] = word[i];
            took = true
        :: else -> took = false
        fi
    }
}

/* gr_ring_state_free() */
#define LOSE(p, i) own[p].state[i] = FREE

/* pull_as_producer() in slot_words.c */
inline pull_as_producer(i)
{
    d_step {
        if
        :: own[PRODUCER].state[i] == READY || own[PRODUCER].state[i] == READING ->
            /* A frame number in the page that differs means a corrupted page. */
            assert(FRAME(word[i]) == own[PRODUCER].frame[i]);
            own[PRODUCER].seen[i] = word[i];
            if
            :: OWNER(word[i]) == OWNER_READY -> own[PRODUCER].state[i] = READY
            :: OWNER(word[i]) == OWNER_CONSUMER -> own[PRODUCER].state[i] = READING
            :: else -> own[PRODUCER].state[i] = FREE
            fi
        :: else
        fi
    }
}

/* pull_as_consumer() and note_ready() in slot_words.c. A frame that comes too late costs another
 * access, in take(), and another one to mark the change. */
inline pull_as_consumer(i)
{
    d_step {
        late = false;
        if
        :: own[CONSUMER].state[i] == READING -> assert(word[i] == own[CONSUMER].seen[i])
        :: own[CONSUMER].state[i] != READING &&
#ifndef KEEP_RECURRED
           (word[i] != own[CONSUMER].seen[i] ||
            (own[CONSUMER].state[i] == FREE && OWNER(word[i]) == OWNER_READY)) ->
#else
           word[i] != own[CONSUMER].seen[i] ->
#endif
            assert(FRAME(word[i]) >= FRAME(own[CONSUMER].seen[i]));
            assert(OWNER(word[i]) == OWNER_PRODUCER || OWNER(word[i]) == OWNER_READY);
            if
            :: own[CONSUMER].state[i] == READY -> LOSE(CONSUMER, i)
            :: else
            fi;
            if
#ifndef READ_BEFORE_PUBLISH
            :: OWNER(word[i]) == OWNER_READY && FRAME(word[i]) > own[CONSUMER].written
#ifndef FORGET_FUTURE
               -> CHANGED(PRODUCER, i) = true
#endif
#endif
            :: else ->
                own[CONSUMER].seen[i] = word[i];
                if
                :: OWNER(word[i]) == OWNER_READY ->
                    own[CONSUMER].frame[i] = FRAME(word[i]);
                    if
#ifdef NEWEST
                    :: FRAME(word[i]) < own[CONSUMER].last_read -> late = true
#endif
                    :: else -> own[CONSUMER].state[i] = READY
                    fi
                :: else
                fi
            fi
        :: else
        fi
    };
    if
    :: late -> take(CONSUMER, i, OWNER_DROPPED)
    :: else
    fi
}

/* gr_link_pull() in slot_words.c, followed by update() in link.c. The latter checks whether the
 * peer is gone: nobody would then read the producer's frames. */
inline pull(p)
{
    if
    :: p == CONSUMER ->
        d_step {
            assert(written >= own[CONSUMER].written);
            own[CONSUMER].written = written
        }
    :: else
    fi;
    do
    :: atomic { slot < SLOTS && !CHANGED(PEER(p), slot) -> slot++ }
    :: atomic { slot < SLOTS && CHANGED(PEER(p), slot) ->
#ifndef CLEAR_LATE
        CHANGED(PEER(p), slot) = false
#endif
        };
        atomic {
            late = false;
            took = false;
            if
            :: p == PRODUCER -> pull_as_producer(slot)
            :: else -> pull_as_consumer(slot)
            fi
        };
        atomic {
            if
            :: late && took -> CHANGED(p, slot) = true
            :: else
            fi;
#ifdef CLEAR_LATE
            CHANGED(PEER(p), slot) = false;
#endif
            slot++
        }
    :: atomic { slot == SLOTS -> slot = 0; own[p].stopped = own[p].stopped || page_stopped; break }
    od
}

/* gr_ring_state_claim() in slot_state.c, for one slot. The model takes any
 * free slot instead of the one that is free longest. It takes the oldest frame, or with NEWEST the
 * newest. */
inline claim(p)
{
    d_step {
        mine = SLOTS;
        slot = 0;
        do
        :: slot < SLOTS ->
            if
            :: p == PRODUCER && own[p].state[slot] == FREE &&
               (mine == SLOTS || own[p].state[mine] == READY) -> mine = slot
            :: p == PRODUCER && own[p].state[slot] == FREE && mine < SLOTS -> mine = slot
#ifdef NEWEST
            :: p == PRODUCER && own[p].state[slot] == READY &&
               (mine == SLOTS ||
                (own[p].state[mine] == READY && own[p].frame[slot] < own[p].frame[mine])) ->
                mine = slot
            :: p == CONSUMER && own[p].state[slot] == READY &&
               (mine == SLOTS || own[p].frame[slot] > own[p].frame[mine]) -> mine = slot
#else
            :: p == CONSUMER && own[p].state[slot] == READY &&
               (mine == SLOTS || own[p].frame[slot] < own[p].frame[mine]) -> mine = slot
#endif
            :: else
            fi;
            slot++
        :: else -> break
        od;
        slot = 0;
        if
        :: mine < SLOTS ->
            own[p].before[mine] = own[p].state[mine];
            own[p].state[mine] = (p == PRODUCER -> WRITING : READING)
        :: else
        fi
    }
}

/* gr_ring_state_undo() in slot_state.c */
#define UNDO(p) own[p].state[mine] = own[p].before[mine]

/* the results of try_to_claim() in acquire.c */
#define MADE 0
#define NONE_READY 1
#define STOPPED 2
#define FAILED 3

/* try_to_claim() in acquire.c, with gr_link_claim() */
inline try_to_claim(p)
{
    attempt = 0;
    found = NONE_READY;
    do
    :: attempt < ATTEMPTS ->
        pull(p);
        atomic {
        if
        :: p == PRODUCER && !own[p].stopped && IS_OVER(p) -> found = FAILED; break
        :: p == PRODUCER && own[p].stopped -> found = STOPPED; break
        :: else
        fi;
        claim(p);
        if
        :: mine == SLOTS -> found = (own[p].stopped -> STOPPED : NONE_READY); break
        :: else
        fi
        };
        atomic {
        if
        :: own[p].before[mine] == READY ->
            take(p, mine, (p == PRODUCER -> OWNER_PRODUCER : OWNER_CONSUMER))
        :: else -> took = true
        fi;
        if
        :: took -> begin_look(p, mine); found = MADE; break
        :: else -> UNDO(p); CHANGED(PEER(p), mine) = true
        fi;
        attempt++
        }
    :: else -> found = (own[p].stopped -> STOPPED : NONE_READY); break
    od;
    attempt = 0;
    if
    :: found == MADE && own[p].before[mine] == READY -> CHANGED(p, mine) = true
    :: else
    fi
}

/* claim_or_await() in acquire.c, with await_peer() in link.c */
inline look(p)
{
    try_to_claim(p);
    if
    :: found == NONE_READY ->
#ifndef AWAIT_AFTER_LOOK
        waiting[p] = true;
        over = IS_OVER(p);
        try_to_claim(p);
#else
        over = IS_OVER(p);
        waiting[p] = true;
#endif
        if
        :: found == NONE_READY && over -> found = FAILED
        :: else
        fi
    :: else
    fi
}

/* mark_dropped() in slot_words.c */
inline mark_dropped()
{
    do
    :: atomic { slot < SLOTS ->
        if
        :: own[CONSUMER].state[slot] == FREE &&
           OWNER(own[CONSUMER].seen[slot]) == OWNER_READY ->
            take(CONSUMER, slot, OWNER_DROPPED)
        :: else -> took = false
        fi
        };
        atomic {
        if
        :: took -> CHANGED(CONSUMER, slot) = true
        :: else
        fi;
        slot++ }
    :: else -> slot = 0; break
    od
}

/* drop_older() in slot_state.c */
inline drop_older(limit)
{
    atomic {
        slot = 0;
        do
        :: slot < SLOTS ->
            if
            :: own[CONSUMER].state[slot] == READY && own[CONSUMER].frame[slot] < limit ->
                own[CONSUMER].state[slot] = FREE
            :: else
            fi;
            slot++
        :: else -> slot = 0; break
        od
    }
}

/* put() in slot_words.c */
inline put(p, i, value)
{
#ifdef MARK_EARLY
    CHANGED(p, i) = true;
#endif
    d_step { word[i] = value; own[p].seen[i] = value };
#if !defined(MARK_EARLY) && !defined(FORGET_MARK)
    CHANGED(p, i) = true
#endif
}

/* begin_use() and finish_claim() in acquire.c. After a failure gr_link_finish_claim() restores the
 * frame. */
inline finish_claim(p)
{
    atomic {
        !own[p].locked -> own[p].locked = true;
        failed = false;
        if
        :: fails > 0 -> failed = true; fails--
        :: true
        fi
    };
    if
    :: atomic { failed ->
        UNDO(p);
        USED(p, mine) = false };
        if
        :: own[p].before[mine] == READY ->
            put(p, mine, WORD(own[p].frame[mine], OWNER_READY));
#ifndef FORGET_WAKE_OF_UNDO
            wake(p, false)
#endif
        :: else
        fi
    :: else ->
        if
        :: p == PRODUCER -> own[p].frame[mine] = own[p].written + 1
        :: else ->
            own[p].last_read = own[p].frame[mine];
#ifdef NEWEST
            drop_older(own[p].last_read);
            mark_dropped()
#endif
        fi
    fi;
    atomic { tell(p); unlock(p) }
}

/* gr_ring_acquire_write() and gr_ring_acquire_read(). `found` is the result. */
inline acquire(p)
{
    lock(p);
    look(p);
    do
    :: found == NONE_READY -> sleep(p); look(p)
    :: else -> break
    od;
    unlock(p);
    if
    :: found == MADE -> finish_claim(p)
    :: else
    fi
}

/* gr_ring_stop() in ring.c, with stop() in link.c */
inline stop(p)
{
    lock(p);
    own[p].stopped = true;
    page_stopped = true;
    wake(p, true);
    atomic { tell(p); unlock(p) }
}

/* end_link() in link.c, which gr_ring_free() calls. The kernel ends the poll of the watching
 * thread. */
inline end_link(p)
{
    ended[p] = true;
    wake(p, true);
    own[p].quit = true;
    own[p].watch_ended;
    closed[PEER(p)] = true
}

/* All other threads are idle. No thread may sleep that could continue. */
inline rest(p)
{
    own[p].resting = true;
    timeout;
    slot = 0;
    do
    :: slot < SLOTS ->
        assert(!(own[CONSUMER].asleep && OWNER(word[slot]) == OWNER_READY &&
                 FRAME(word[slot]) <= written));
        assert(!(own[PRODUCER].asleep && (OWNER(word[slot]) == OWNER_DROPPED ||
                                          OWNER(word[slot]) == OWNER_PRODUCER)));
#ifdef NEWEST
        assert(!(own[PRODUCER].asleep && OWNER(word[slot]) == OWNER_READY));
#endif
        slot++
    :: else -> slot = 0; break
    od;
    own[p].resting = false
}

/* ---- The processes --------------------------------------------------------------------------- */

/* gr_ring_hand_over() and gr_ring_cancel_write() in hand_over.c, with gr_link_push() */
inline hand_over_written()
{
    atomic {
        cancel = false;
        if
        :: cancels > 0 -> cancel = true; cancels--
        :: true
        fi
    };
    if
    :: !cancel -> content[mine] = own[PRODUCER].written + 1
    :: else
    fi;
    lock(PRODUCER);
    if
    :: cancel -> own[PRODUCER].state[mine] = FREE; USED(PRODUCER, mine) = false
    :: else ->
        own[PRODUCER].written++;
        own[PRODUCER].frame[mine] = own[PRODUCER].written;
        own[PRODUCER].state[mine] = READY;
#ifdef PUBLISH_EARLY
        written = own[PRODUCER].written;
#endif
        USED(PRODUCER, mine) = false;
        put(PRODUCER, mine, WORD(own[PRODUCER].frame[mine], OWNER_READY));
        written = own[PRODUCER].written;
        wake(PRODUCER, false)
    fi;
    atomic { tell(PRODUCER); unlock(PRODUCER); mine = SLOTS }
}

proctype producer()
{
    byte slot, mine, attempt, found, waits;
    bool took, late, over, failed, cancel;
    {
        do
        :: own[PRODUCER].written < FRAMES ->
            acquire(PRODUCER);
            if
            :: found == MADE && !failed -> hand_over_written()
            :: found == MADE && failed
            :: found == MADE && failed && !own[CONSUMER].resting -> rest(PRODUCER); break
            :: else -> break
            fi
        :: else -> break
        od;
        end_link(PRODUCER)
    } unless { dead[PRODUCER] }
}

/* gr_ring_give_back() and gr_ring_cancel_read() in hand_over.c, with gr_link_push() */
inline hand_over_read()
{
    atomic {
        cancel = false;
        if
        :: cancels > 0 -> cancel = true; cancels--
        :: true
        fi
    };
    assert(content[mine] == own[CONSUMER].frame[mine]);
    lock(CONSUMER);
    if
    :: cancel ->
        own[CONSUMER].state[mine] = READY;
        own[CONSUMER].last_read = own[CONSUMER].last_given_back;
        drop_older(own[CONSUMER].last_read);
        USED(CONSUMER, mine) = false;
        put(CONSUMER, mine, WORD(FRAME(own[CONSUMER].seen[mine]), OWNER_READY));
        mark_dropped()
    :: else ->
#ifdef NEWEST
        assert(own[CONSUMER].frame[mine] > own[CONSUMER].last_given_back);
#else
        assert(own[CONSUMER].frame[mine] == own[CONSUMER].last_given_back + 1);
#endif
        own[CONSUMER].last_given_back = own[CONSUMER].frame[mine];
        own[CONSUMER].state[mine] = FREE;
#ifndef GIVE_BACK_EARLY
        USED(CONSUMER, mine) = false;
        put(CONSUMER, mine, WORD(own[CONSUMER].frame[mine], OWNER_PRODUCER))
#else
        put(CONSUMER, mine, WORD(own[CONSUMER].frame[mine], OWNER_PRODUCER));
        USED(CONSUMER, mine) = false
#endif
    fi;
    wake(CONSUMER, false);
    atomic { tell(CONSUMER); unlock(CONSUMER); mine = SLOTS }
}

proctype consumer()
{
    byte slot, mine, attempt, found, waits;
    bool took, late, over, failed, cancel;
    {
        do
        :: own[CONSUMER].last_given_back < FRAMES ->
            acquire(CONSUMER);
            if
            :: found == MADE && !failed -> hand_over_read()
            :: found == MADE && failed
            :: found == MADE && failed && !own[PRODUCER].resting -> rest(CONSUMER); break
            :: else ->
                /* The peer is gone, and all written frames have been read. With NEWEST the peer may
                 * have died while it overwrote a frame. */
#ifndef NEWEST
                if
                :: found == FAILED -> assert(own[CONSUMER].last_given_back == written)
                :: else
                fi;
#endif
                break
            fi
        :: else -> break
        od;
        end_link(CONSUMER)
    } unless { dead[CONSUMER] }
}

/* notify() in watch.c, with gr_ring_peer_changed() in ring.c */
inline notify(p)
{
    atomic { !own[p].locked -> tell(p) }
}

/* watch_peer() and run() in watch.c */
proctype watch(byte p)
{
    {
        do
        :: own[p].quit -> break
        :: !own[p].quit && bytes[p] -> bytes[p] = false; notify(p)
        :: !own[p].quit && closed[p] ->
#ifdef NOTIFY_BEFORE_GONE
            notify(p);
            own[p].gone = true;
#else
            own[p].gone = true;
#ifndef FORGET_NOTIFY_OF_END
            notify(p);
#endif
#endif
            own[p].quit;
            break
        od;
        own[p].watch_ended = true
    } unless { dead[p] }
}

#ifdef STOPS
proctype stopper(byte p)
{
    bool waits;
    { stop(p) } unless { dead[p] }
}
#endif

#ifdef DIES
/* The kernel closes the socket of a killed process. */
proctype killer(byte p)
{
    atomic { dead[p] = true; closed[PEER(p)] = true }
}
#endif

init
{
    atomic {
        run producer();
        run consumer();
        run watch(PRODUCER);
        run watch(CONSUMER);
#ifdef STOPS
        if
        :: run stopper(PRODUCER)
        :: run stopper(CONSUMER)
        fi;
#endif
#ifdef DIES
        if
        :: run killer(PRODUCER)
        :: run killer(CONSUMER)
        fi
#endif
    }
}
