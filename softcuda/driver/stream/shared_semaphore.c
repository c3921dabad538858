/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A semaphore in shared memory. Its state is one atomic value. It is changed without a lock, so
 * that a process that dies during an update leaves nothing locked. A hostile process may have
 * written the memory: seals prevent it from removing pages, and the driver only uses the value, as
 * a number. The driver also keeps the values that this process has signalled in private memory, so
 * that no peer can reset them.
 */
#include "softcuda/driver/stream/shared_semaphore.h"
#include "softcuda/driver/soft.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC   0x6d657372u /* "rsem" */
#define VERSION 1u
#define SEALS   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

#define NANOSECONDS_PER_MILLISECOND 1000000

/* The number of messages per semaphore. Without a limit another process could fill the log. */
#define MOST_COMPLAINTS 8

/* The state in the shared memory. */
typedef struct {
    uint32_t magic;
    uint32_t version;
    uint32_t timeline;
    /* The number of signals; futexes have 32 bits, but the value has 64. */
    _Atomic uint32_t changes;
    _Atomic uint64_t value;
} shared_state;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics must work across processes");

struct gr_softcuda_semaphore {
    gr_softcuda_semaphore *next;
    dev_t device; /* device and inode identify the file */
    ino_t inode;
    bool timeline; /* read when the semaphore was opened, because the shared field may change */
    unsigned holders;
    shared_state *shared;
    _Atomic uint64_t signalled; /* for a timeline: the greatest value that this process signalled */
    _Atomic unsigned complaints;
};

/* All open semaphores. The list ensures that each is mapped once per process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gr_softcuda_semaphore *all;

/* ---- Lifetime -------------------------------------------------------------------------------- */

static bool write_state(int fd, const shared_state *state)
{
    ssize_t written = pwrite(fd, state, sizeof(*state), 0);
    return written == (ssize_t)sizeof(*state) && fcntl(fd, F_ADD_SEALS, SEALS) == 0;
}

CUresult gr_softcuda_semaphore_create(int timeline, unsigned long long value, int *fd)
{
    SOFT_FAIL_IF(!fd || (!timeline && value > 1), CUDA_ERROR_INVALID_VALUE);
    const shared_state state = {
        .magic = MAGIC, .version = VERSION, .timeline = timeline != 0, .value = value};
    int made = memfd_create("libgrinterop-softcuda-semaphore", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    SOFT_FAIL_IF(made < 0, CUDA_ERROR_OPERATING_SYSTEM);
    if (!write_state(made, &state)) {
        close(made);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *fd = made;
    return CUDA_SUCCESS;
}

/*
 * Checks the file. The seals are checked first: without them another process could still shrink the
 * file.
 */
static bool inspect(int fd, struct stat *file)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, file) == 0 &&
           S_ISREG(file->st_mode) && file->st_size == (off_t)sizeof(shared_state);
}

/* Maps a file whose seals were checked, so its pages cannot be removed. */
static shared_state *map(int fd)
{
    shared_state *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        return NULL;
    if (shared->magic == MAGIC && shared->version == VERSION)
        return shared;
    munmap(shared, sizeof(*shared));
    return NULL;
}

static CUresult open_locked(int fd, const struct stat *file, gr_softcuda_semaphore **made)
{
    gr_softcuda_semaphore *found = all;
    while (found && !(found->device == file->st_dev && found->inode == file->st_ino))
        found = found->next;
    if (found) {
        found->holders++;
        *made = found;
        return CUDA_SUCCESS;
    }
    shared_state *shared = map(fd);
    SOFT_FAIL_IF(!shared, CUDA_ERROR_INVALID_VALUE);
    gr_softcuda_semaphore *semaphore = malloc(sizeof(*semaphore));
    if (!semaphore) {
        munmap(shared, sizeof(*shared));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *semaphore = (gr_softcuda_semaphore){.next = all,
                                         .device = file->st_dev,
                                         .inode = file->st_ino,
                                         .timeline = shared->timeline != 0,
                                         .holders = 1,
                                         .shared = shared};
    all = semaphore;
    *made = semaphore;
    return CUDA_SUCCESS;
}

CUresult gr_softcuda_semaphore_open(int fd, gr_softcuda_semaphore **semaphore)
{
    struct stat file;
    SOFT_FAIL_IF(!semaphore || !inspect(fd, &file), CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&lock);
    return open_locked(fd, &file, semaphore);
}

void soft_semaphore_hold(gr_softcuda_semaphore *semaphore)
{
    SOFT_LOCK(&lock);
    semaphore->holders++;
}

void gr_softcuda_semaphore_close(gr_softcuda_semaphore *semaphore)
{
    if (!semaphore)
        return;
    pthread_mutex_lock(&lock);
    bool is_last = --semaphore->holders == 0;
    if (is_last) {
        gr_softcuda_semaphore **link = &all;
        while (*link != semaphore)
            link = &(*link)->next;
        *link = semaphore->next;
    }
    pthread_mutex_unlock(&lock);
    if (!is_last)
        return;
    munmap(semaphore->shared, sizeof(*semaphore->shared));
    free(semaphore);
}

bool soft_semaphore_is_timeline(const gr_softcuda_semaphore *semaphore)
{
    return semaphore->timeline;
}

/* ---- Signal ---------------------------------------------------------------------------------- */

/* Records the signal in private memory, since another process may overwrite the shared value. */
static void note_signal(gr_softcuda_semaphore *semaphore, uint64_t value)
{
    uint64_t before = atomic_load(&semaphore->signalled);
    while (value > before && !atomic_compare_exchange_weak(&semaphore->signalled, &before, value))
        ;
}

static void log_refused_signal(gr_softcuda_semaphore *semaphore, uint64_t value, uint64_t old)
{
    unsigned number = atomic_fetch_add(&semaphore->complaints, 1) + 1;
    if (number <= MOST_COMPLAINTS)
        soft_log(SOFT_WARN,
                 "a timeline semaphore is signalled with %llu, which is not greater than its "
                 "value %llu; a GPU's behaviour is undefined here, and the value stays%s",
                 (unsigned long long)value, (unsigned long long)old,
                 number == MOST_COMPLAINTS ? " (this is the last message about this semaphore)"
                                           : "");
}

static bool advance(gr_softcuda_semaphore *semaphore, uint64_t value)
{
    _Atomic uint64_t *present = &semaphore->shared->value;
    uint64_t old = atomic_load(present);
    do {
        if (value <= old) {
            log_refused_signal(semaphore, value, old);
            return false;
        }
    } while (!atomic_compare_exchange_weak(present, &old, value));
    return true;
}

static bool advance_and_note(gr_softcuda_semaphore *semaphore, uint64_t value)
{
    bool advanced = advance(semaphore, value);
    note_signal(semaphore, value);
    return advanced;
}

static bool set(gr_softcuda_semaphore *semaphore)
{
    uint64_t old = 0;
    if (atomic_compare_exchange_strong(&semaphore->shared->value, &old, 1))
        return true;
    soft_log(SOFT_WARN, "a binary semaphore is signalled again before anything has waited for it; "
                        "one wait will consume both signals");
    return false;
}

bool soft_semaphore_signal(gr_softcuda_semaphore *semaphore, uint64_t value)
{
    if (!(semaphore->timeline ? advance_and_note(semaphore, value) : set(semaphore)))
        return false;
    _Atomic uint32_t *changes = &semaphore->shared->changes;
    atomic_fetch_add(changes, 1);
    syscall(SYS_futex, changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

CUresult gr_softcuda_semaphore_signal(gr_softcuda_semaphore *semaphore, unsigned long long value)
{
    SOFT_FAIL_IF(!semaphore || !soft_semaphore_signal(semaphore, value), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

unsigned long long gr_softcuda_semaphore_value(const gr_softcuda_semaphore *semaphore)
{
    return semaphore ? atomic_load(&semaphore->shared->value) : 0;
}

/* ---- Wait ------------------------------------------------------------------------------------ */

static bool try_to_take(gr_softcuda_semaphore *semaphore, uint64_t value)
{
    _Atomic uint64_t *present = &semaphore->shared->value;
    if (semaphore->timeline)
        return atomic_load(present) >= value || atomic_load(&semaphore->signalled) >= value;
    uint64_t signalled = 1;
    return atomic_compare_exchange_strong(present, &signalled, 0);
}

static bool wait_for(gr_softcuda_semaphore *semaphore, uint64_t value, unsigned milliseconds)
{
    /*
     * Reads `changes` before the value. A signal after that changes it, and the futex call returns
     * at once.
     */
    uint32_t seen = atomic_load(&semaphore->shared->changes);
    if (try_to_take(semaphore, value))
        return true;
    const struct timespec time = {.tv_nsec = (long)milliseconds * NANOSECONDS_PER_MILLISECOND};
    syscall(SYS_futex, &semaphore->shared->changes, FUTEX_WAIT, seen, &time, NULL, 0);
    return try_to_take(semaphore, value);
}

bool soft_semaphore_wait_slice(gr_softcuda_semaphore *semaphore, uint64_t value)
{
    return wait_for(semaphore, value, SOFT_SEMAPHORE_SLICE);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / NANOSECONDS_PER_MILLISECOND;
}

CUresult gr_softcuda_semaphore_wait(gr_softcuda_semaphore *semaphore, unsigned long long value,
                                    int milliseconds)
{
    SOFT_FAIL_IF(!semaphore, CUDA_ERROR_INVALID_VALUE);
    const int64_t end = now() + milliseconds;
    for (;;) {
        int64_t left = milliseconds < 0 ? SOFT_SEMAPHORE_SLICE : end - now();
        if (left > SOFT_SEMAPHORE_SLICE)
            left = SOFT_SEMAPHORE_SLICE;
        if (left <= 0)
            return try_to_take(semaphore, value) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
        if (wait_for(semaphore, value, (unsigned)left))
            return CUDA_SUCCESS;
    }
}
