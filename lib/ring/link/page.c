/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates, checks and maps the page that two processes share for a ring. */
#define _GNU_SOURCE
#include "lib/ring/link/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/error.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics must work across processes");
_Static_assert(offsetof(struct gr_page, changes) == 32,
               "the layout belongs to the message version");

static size_t size_of(uint32_t slots)
{
    return sizeof(struct gr_page) + slots * sizeof(struct gr_page_slot);
}

int gr_page_create(uint32_t slots)
{
    int fd = memfd_create("grinterop ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)size_of(slots)) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    gr_fail_errno(
        errno, "Cannot create the ring's page, perhaps for lack of file descriptors (ulimit -n)");
    if (fd >= 0)
        close(fd);
    return -1;
}

gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page)
{
    const size_t size = size_of(slots);
    struct stat file;
    /* The seals come first: without them the peer could shrink the file after a check of its size.
     */
    const int seals = fcntl(fd, F_GET_SEALS);
    const bool is_sealed = seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &file) == 0 &&
                           S_ISREG(file.st_mode) && file.st_size == (off_t)size;
    GR_REFUSE_IF(!is_sealed,
                 "The descriptor received for the ring's page is not sealed memory of the right "
                 "size (%zu): grinterop did not send it.",
                 size);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return gr_fail_errno(errno, "Cannot map the ring's page");
    *page = mapped;
    return GR_OK;
}

void gr_page_unmap(struct gr_page *page, uint32_t slots)
{
    if (page)
        munmap(page, size_of(slots));
}
