/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Out-of-bounds accesses end the process with a message that names the object, the distance from
 * the object, and the kernel. Accesses within bounds succeed, up to the last byte.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_guards.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool thread_sanitizer(void)
{
    return sanitizer() && strcmp(sanitizer(), "ThreadSanitizer") == 0;
}

int write_at(CUdeviceptr base, long long offset)
{
    soft_run("write_at", (void *[]){&base, &offset});
    return 0;
}

void begin(void)
{
    fixture_setup();
    soft_kernels_load();
}

CUdeviceptr allocated(size_t size)
{
    CUdeviceptr memory = 0;
    begin();
    CU(MemAlloc(&memory, size));
    return memory;
}

GROUP("signals", add_case)

/* ---- Signals of the application -------------------------------------------------------------- */

static void *expected;
static volatile sig_atomic_t caught;

/* Makes the address accessible, like a handler that commits pages on demand. */
static void open_page(int number, siginfo_t *info, void *machine)
{
    (void)number;
    (void)machine;
    if (info->si_addr == expected && mprotect(expected, 4096, PROT_READ | PROT_WRITE) == 0)
        caught++;
    else
        _exit(3);
}

/*
 * The application installs this handler before the driver installs its own, so the driver passes
 * unknown faults to it.
 */
PASSES(own_handler)
{
    struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
    child_check(sigaction(SIGSEGV, &action, NULL) == 0);
    expected = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_check(expected != MAP_FAILED);
    allocated(SIZE);
    *(volatile unsigned char *)expected = 1;
    child_check(caught == 1);
    child_check(mprotect(expected, 4096, PROT_NONE) == 0);
    write_at((CUdeviceptr)(uintptr_t)expected, 0);
    child_check(caught == 2);
    child_check(*(volatile unsigned char *)expected == 0x5a);
    return 0;
}

/*
 * Catches: the driver handled a signal from raise() or kill() like a fault, and expected the signal
 * to recur.
 */
DIES(sent_signal, "about to raise ", "the signal: yes")
{
    CUdeviceptr memory = allocated(SIZE);
    CU(MemFree(memory));
    fprintf(stderr, "about to raise the signal: yes\n");
    raise(SIGSEGV);
    return 0;
}

GROUP("accesses that do not", add_soft_case)

static const size_t sizes[] = {1, 255, 256, 512, 513, SIZE, 4095, 4096, 4097, 70000};

/* A kernel writes the first and the last byte of the memory. */
static void write_ends(CUdeviceptr memory, size_t size)
{
    long long first = 0, last = (long long)size - 1;
    CU(MemsetD8Async(memory, 0x11, size, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(soft_run("write_at", (void *[]){&memory, &first}), CUDA_SUCCESS);
    ck_assert_int_eq(soft_run("write_at", (void *[]){&memory, &last}), CUDA_SUCCESS);
}

static void assert_ends(const unsigned char *bytes, size_t size)
{
    ck_assert_uint_eq(bytes[0], 0x5a);
    ck_assert_uint_eq(bytes[size - 1], 0x5a);
    if (size > 2)
        assert_bytes(bytes + 1, size - 2, 0x11);
}

static void check_ends(CUdeviceptr memory, size_t size)
{
    CUdeviceptr base = 0;
    size_t found = 0;
    ck_assert_uint_eq(memory % 512, 0);
    CU_READS(base, memory, MemGetAddressRange(&base, &found, memory + size - 1));
    ck_assert_uint_eq(found, size);
    write_ends(memory, size);
    const unsigned char *bytes = soft_bytes(memory, size);
    assert_ends(bytes, size);
}

SOFT_TEST(first_and_last_bytes_of_allocations_are_accessible, sizeof(sizes) / sizeof(*sizes))
{
    size_t size = sizes[_i];
    CUdeviceptr memory = 0;
    void *host = NULL;
    CU(MemAlloc(&memory, size));
    check_ends(memory, size);
    CU(MemFree(memory));
    CU(MemAllocManaged(&memory, size, CU_MEM_ATTACH_GLOBAL));
    check_ends(memory, size);
    CU(MemFree(memory));
    CU(MemAllocAsync(&memory, size, fx.stream));
    check_ends(memory, size);
    CU(MemFreeAsync(memory, fx.stream));
    CU(MemAllocHost(&host, size));
    ck_assert_uint_eq((uintptr_t)host % 4096, 0);
    check_ends((CUdeviceptr)(uintptr_t)host, size);
}

SOFT_TEST(first_and_last_bytes_of_mapped_buffers_are_accessible, sizeof(sizes) / sizeof(*sizes))
{
    size_t size = sizes[_i];
    GLuint name = gl_buffer_filled(size, 1);
    unsigned char *bytes = must_allocate(size);
    gr_resource *resource = must_register(name);
    for (int i = 0; i < 2; i++) {
        gr_buffer *buffer = must_map(resource);
        ck_assert_uint_eq(gr_buffer_ptr(buffer) % 512, 0);
        write_ends(gr_buffer_ptr(buffer), size);
        assert_ok(gr_buffer_release(buffer));
        gl_read(name, bytes, size);
        assert_ends(bytes, size);
    }
    gr_resource_free(resource);
    free(bytes);
}

/* ---- Many allocations ------------------------------------------------------------------------ */

/* The last of these allocations have no guards, because the process runs out of memory maps. */
#define MANY 34000

static CUdeviceptr many[MANY];

static void assert_filled(int i)
{
    unsigned char bytes[2];
    CU(MemcpyDtoH(bytes, many[i], 2));
    ck_assert_uint_eq(bytes[0], (unsigned char)i);
    ck_assert_uint_eq(bytes[1], 0xCB);
}

SOFT_TEST(tens_of_thousands_of_allocations_succeed)
{
    if (thread_sanitizer())
        skip("ThreadSanitizer needs the memory maps of the process");
    for (int i = 0; i < MANY; i++) {
        CU(MemAlloc(&many[i], 2));
        CU(MemsetD8(many[i], (unsigned char)i, 1));
    }
    for (int i = 0; i < MANY; i += 1 + i % 2 * 2)
        assert_filled(i);
    for (int i = 0; i < MANY; i += 2)
        CU(MemFree(many[i]));
    for (int i = 1; i < MANY; i += 2)
        assert_filled(i);
    for (int i = 1; i < MANY; i += 2)
        CU(MemFree(many[i]));
}
