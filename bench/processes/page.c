/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The counters of the raw calls. A side polls them without sleeping. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/processes/processes.h"

enum { PATIENCE_US = 20000000 };

int processes_page_create(void)
{
    const int fd = memfd_create("bench_processes", 0);
    if (fd >= 0 && ftruncate(fd, sizeof(struct processes_page)) == 0)
        return fd;
    perror("memfd_create");
    return -1;
}

struct processes_page *processes_page_map(int fd)
{
    void *page =
        mmap(NULL, sizeof(struct processes_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        return page;
    perror("mmap");
    return NULL;
}

void processes_page_unmap(struct processes_page *page)
{
    if (page)
        munmap(page, sizeof(*page));
}

bool processes_await(struct processes_page *page, _Atomic uint64_t *counter, uint64_t value)
{
    const double begin = bench_now_us();
    while (atomic_load(counter) < value) {
        if (atomic_load(&page->failed) || bench_now_us() - begin > PATIENCE_US) {
            fprintf(stderr, "%s: the other side has stopped\n", bench_program);
            return false;
        }
        sched_yield();
    }
    return true;
}
