/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that miss their object end the process, with a line that says by how much they missed
 * which object, and which kernel it was. Those that do not miss go well, to the last byte.
 */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "tests/support/child_check.h"
#include "soft_launch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 1000

/* Where the guard of an object of SIZE bytes begins: addresses are multiples of 512. */
#define END 1024

#define GRANULE ((size_t)2 << 20)

/* The most dynamic shared memory that a launch gives unasked. */
#define LARGE_SHARED 49152

static bool thread_sanitizer(void)
{
    return sanitizer() && strcmp(sanitizer(), "ThreadSanitizer") == 0;
}

/* ---- Entry points that grinterop's table lacks ----------------------------------------------- */

static void allocate_managed(CUdeviceptr *memory, size_t size)
{
    PFN_cuMemAllocManaged_v6000 allocate = NULL;
    void *symbol = cuda_symbol("cuMemAllocManaged", 6000);
    memcpy(&allocate, &symbol, sizeof(symbol));
    ck_assert_int_eq(allocate(memory, size, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
}

static void find_range(CUdeviceptr address, CUdeviceptr *base, size_t *size)
{
    PFN_cuMemGetAddressRange_v3020 find = NULL;
    void *symbol = cuda_symbol("cuMemGetAddressRange", 3020);
    memcpy(&find, &symbol, sizeof(symbol));
    ck_assert_int_eq(find(base, size, address), CUDA_SUCCESS);
}

/* ---- Children that miss ---------------------------------------------------------------------- */

/* Writes one byte that far from the pointer, in a kernel. Does not come back. */
static int write_at(CUdeviceptr base, long long offset)
{
    soft_run("write_at", (void *[]){&base, &offset});
    return 0;
}

static void begin(void)
{
    fixture_setup();
    soft_kernels_load();
}

static CUdeviceptr allocated(size_t size)
{
    CUdeviceptr memory = 0;
    begin();
    CU(MemAlloc(&memory, size));
    return memory;
}

CHILD(past_an_allocation)
{
    return write_at(allocated(SIZE), END);
}

CHILD(before_an_allocation)
{
    return write_at(allocated(4096), -1);
}

/* Behind the page of a small one, and as far as the guard goes. */
CHILD(far_past_an_allocation)
{
    return write_at(allocated(1), 512 + 65535);
}

CHILD(past_a_pitched_allocation)
{
    CUdeviceptr memory = 0;
    size_t pitch = 0;
    begin();
    CU(MemAllocPitch(&memory, &pitch, 100, 3, 4));
    child_check(pitch == 512);
    return write_at(memory, 3 * 512);
}

CHILD(past_managed_memory)
{
    CUdeviceptr memory = 0;
    begin();
    allocate_managed(&memory, SIZE);
    return write_at(memory, END);
}

CHILD(past_pinned_memory)
{
    void *memory = NULL;
    begin();
    CU(MemAllocHost(&memory, SIZE));
    return write_at((CUdeviceptr)(uintptr_t)memory, 4096);
}

CHILD(past_pool_memory)
{
    CUdeviceptr memory = 0;
    begin();
    CU(MemAllocAsync(&memory, SIZE, fx.stream));
    return write_at(memory, END);
}

static gr_buffer *mapped_buffer(void)
{
    begin();
    gr_buffer *buffer = gr_map_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, fx.stream);
    child_check(buffer);
    return buffer;
}

CHILD(past_a_mapped_buffer)
{
    return write_at(gr_buffer_ptr(mapped_buffer()), END);
}

CHILD(before_a_mapped_buffer)
{
    CUdeviceptr pages = gr_buffer_ptr(mapped_buffer()) & ~(CUdeviceptr)4095;
    return write_at(pages, -1);
}

/* In the guard of a buffer that is not even mapped. */
CHILD(past_an_unmapped_buffer)
{
    begin();
    gr_resource *resource = gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE);
    gr_buffer *buffer = gr_map(resource, fx.stream);
    child_check(buffer);
    CUdeviceptr stale = gr_buffer_ptr(buffer);
    child_check(gr_buffer_release(buffer) == GR_OK);
    return write_at(stale, END + 100);
}

CHILD(past_freed_memory)
{
    CUdeviceptr memory = allocated(SIZE);
    CU(MemFree(memory));
    return write_at(memory, END);
}

static CUmemGenericAllocationHandle granule(int *fd)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle = 0;
    CU(MemCreate(&handle, GRANULE, &prop, 0));
    CU(MemExportToShareableHandle(fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return handle;
}

/* A mapping that fills its reservation. */
static CUdeviceptr mapped_granule(void)
{
    CUdeviceptr address = 0;
    int fd = -1;
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    begin();
    CU(MemAddressReserve(&address, GRANULE, 0, 0, 0));
    CU(MemMap(address, GRANULE, 0, granule(&fd), 0));
    CU(MemSetAccess(address, GRANULE, &access, 1));
    return address;
}

CHILD(past_a_mapping)
{
    return write_at(mapped_granule(), GRANULE);
}

CHILD(before_a_mapping)
{
    return write_at(mapped_granule(), -1);
}

/* A view of SIZE bytes in the middle of an imported memory, whose neighbours in its pages are
 * there. */
static CUdeviceptr external_buffer(void)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC import = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                               .size = GRANULE};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC view = {.offset = 8192 + 256, .size = SIZE};
    CUexternalMemory memory = NULL;
    CUdeviceptr buffer = 0;
    begin();
    granule(&import.handle.fd);
    CU(ImportExternalMemory(&memory, &import));
    CU(ExternalMemoryGetMappedBuffer(&buffer, memory, &view));
    return buffer;
}

CHILD(past_external_memory)
{
    return write_at(external_buffer(), 4096 - 256);
}

CHILD(before_external_memory)
{
    return write_at(external_buffer(), -256 - 1);
}

CHILD(through_null)
{
    begin();
    return write_at(0, 16);
}

CHILD(through_no_address)
{
    CUdeviceptr fresh = allocated(SIZE);
    soft_run("write_to_address_in", (void *[]){&fresh});
    return 0;
}

CHILD(misaligned)
{
    CUdeviceptr memory = allocated(SIZE);
    long long offset = 4;
    soft_run("write_vector_at", (void *[]){&memory, &offset});
    return 0;
}

/* Writes one byte that far from the block's dynamic shared memory. */
static int write_shared(unsigned size, long long offset)
{
    begin();
    soft_launch_shared("write_shared_at", (struct extents){.x = 3}, (struct extents){.x = 1}, size,
                       fx.stream, (void *[]){&offset});
    return fx.cu->StreamSynchronize(fx.stream) != CUDA_SUCCESS;
}

CHILD(past_shared_memory)
{
    return write_shared(128, 128);
}

CHILD(past_odd_shared_memory)
{
    return write_shared(1000, 1024);
}

CHILD(far_past_shared_memory)
{
    return write_shared(128, 80000);
}

CHILD(before_shared_memory)
{
    return write_shared(LARGE_SHARED, -65536);
}

CHILD(without_shared_memory)
{
    return write_shared(0, 16);
}

CHILD(within_shared_memory)
{
    if (write_shared(128, 0) || write_shared(128, 127))
        return 1;
    return write_shared(LARGE_SHARED, 0) || write_shared(LARGE_SHARED, LARGE_SHARED - 1);
}

/* Writes to the first byte, twice. */
static int write_to_host(unsigned char *memory)
{
    begin();
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)memory;
    for (unsigned char i = 0; i < 2; i++) {
        memory[0] = 0;
        write_at(address, 0);
        child_check(memory[0] == 0x5a);
    }
    return 0;
}

CHILD(to_small_memory)
{
    unsigned char *memory = malloc(64);
    int status = write_to_host(memory);
    free(memory);
    return status;
}

CHILD(to_large_memory)
{
    unsigned char *memory = malloc(4 << 20);
    int status = write_to_host(memory);
    free(memory);
    return status;
}

CHILD(to_the_stack)
{
    unsigned char memory[64];
    return write_to_host(memory);
}

CHILD(to_known_memory)
{
    void *pinned = NULL;
    CUdeviceptr managed = 0, memory = allocated(64);
    allocate_managed(&managed, 64);
    CU(MemAllocHost(&pinned, 64));
    soft_run("write_vector_at", (void *[]){&managed, &(long long){0}});
    soft_run("wait_until", (void *[]){&memory});
    return write_at((CUdeviceptr)(uintptr_t)pinned, 0);
}

CHILD(at_nobodys_address)
{
    begin();
    /* Its middle is too far below what lies above it for a thread's stack that is too small. */
    const long long size = 8 << 20;
    void *pages = mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_check(pages != MAP_FAILED);
    return write_at((CUdeviceptr)(uintptr_t)pages, size / 2);
}

CHILD(by_the_application)
{
    CUdeviceptr memory = allocated(SIZE);
    memset((void *)(uintptr_t)memory, 1, END + 1);
    return 0;
}

CHILD(by_a_fill)
{
    begin();
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = gr_map_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, fx.other);
    child_check(buffer);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 1, SIZE, fx.stream));
    child_check(gr_buffer_release(buffer) == GR_OK);
    gate_open(gate);
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

CHILD(by_a_copy)
{
    CUdeviceptr memory = allocated(SIZE);
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = gr_map_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, fx.other);
    child_check(buffer);
    CU(MemcpyDtoDAsync(memory, gr_buffer_ptr(buffer), SIZE, fx.stream));
    child_check(gr_buffer_release(buffer) == GR_OK);
    gate_open(gate);
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

GROUP("accesses that miss", add_case)

#define KERNEL "driver: kernel write_at accessed address 0x"

/* Catches: a write past an allocation went unseen, unlike one after its free. */
TEST(allocations)
{
    need_software();
    expect_death("past_an_allocation", KERNEL,
                 ", which is 24 bytes past the end of device memory of cuMemAlloc (1000 bytes at ");
    expect_death("before_an_allocation", KERNEL,
                 ", which is 1 bytes before the beginning of device memory of cuMemAlloc (4096 ");
    expect_death("far_past_an_allocation", KERNEL,
                 ", which is 66046 bytes past the end of device memory of cuMemAlloc (1 bytes ");
    expect_death("past_a_pitched_allocation", KERNEL,
                 ", which is 0 bytes past the end of device memory of cuMemAlloc (1536 bytes at ");
    expect_death("past_managed_memory", KERNEL,
                 ", which is 24 bytes past the end of managed memory of cuMemAllocManaged (1000 ");
    expect_death("past_pinned_memory", KERNEL,
                 ", which is 3096 bytes past the end of pinned memory of cuMemHostAlloc (1000 ");
    expect_death("past_pool_memory", KERNEL,
                 ", which is 24 bytes past the end of stream-ordered memory of cuMemAllocAsync (");
    expect_death("past_freed_memory", KERNEL,
                 ", which is 24 bytes past the end of device memory after cuMemFree\n");
}

/* Catches: a write past a mapped buffer went unseen, unlike one after its unmap. */
TEST(mapped_buffers)
{
    need_software();
    expect_death("past_a_mapped_buffer", KERNEL,
                 ", which is 24 bytes past the end of OpenGL buffer ");
    expect_death("before_a_mapped_buffer", KERNEL,
                 ", which is 3073 bytes before the beginning of OpenGL buffer ");
    expect_death("past_an_unmapped_buffer", KERNEL,
                 ", which is 124 bytes past the end of OpenGL buffer ");
}

TEST(shared_memory)
{
    need_software();
    expect_death("past_a_mapping", KERNEL,
                 ", which is 0 bytes past the end of a mapping of cuMemMap (2097152 bytes at ");
    expect_death("before_a_mapping", KERNEL,
                 ", which is 1 bytes before the beginning of a mapping of cuMemMap (2097152 ");
    expect_death(
        "past_external_memory", KERNEL,
        ", which is 2840 bytes past the end of a buffer of external memory (1000 bytes at");
    expect_death("before_external_memory", KERNEL,
                 ", which is 257 bytes before the beginning of a buffer of external memory (1000 ");
}

/* Catches: an access through NULL ended the program without a word. */
TEST(pointers_to_nothing)
{
    need_software();
    if (thread_sanitizer())
        skip("ThreadSanitizer faults before the access does, at an address of its own");
    expect_death("through_null", "kernel write_at accessed address 0x10, ",
                 ", which is NULL plus 16 bytes: was a parameter not set?\n");
    expect_death("at_nobodys_address", KERNEL,
                 ", which is no memory of this driver, or no longer\n");
#ifdef __x86_64__
    if (!sanitizer())
        expect_death("through_no_address",
                     "kernel write_to_address_in accessed a vector type (float4, ...) at an ",
                     " or used a pointer that is no address at all: was it read from memory that "
                     "nobody has written to?\n");
#endif
}

/* Catches: a misaligned float4 was called a pointer that is no address. */
TEST(vectors_at_odd_addresses)
{
    need_software();
#ifdef __SSE__
    if (!sanitizer())
        expect_death("misaligned", "kernel write_vector_at accessed a vector type (float4, ...) at",
                     " an address that is no multiple of its alignment, or ");
#endif
}

#define SHARED_KERNEL "driver: kernel write_shared_at accessed address 0x"

/* Catches: a launch without bytes was called one through NULL, and accesses past them went unseen.
 */
TEST(dynamic_shared_memory)
{
    need_software();
    expect_death(
        "past_shared_memory", SHARED_KERNEL,
        ", which is 0 bytes past the end of its extern __shared__ memory: the launch gives "
        "it 128 bytes, by <<<grid, block, bytes>>> or cuLaunchKernel's sharedMemBytes\n");
    expect_death("past_odd_shared_memory", SHARED_KERNEL,
                 ", which is 24 bytes past the end of its extern __shared__ memory: the launch ");
    expect_death(
        "far_past_shared_memory", SHARED_KERNEL,
        ", which is 79872 bytes past the end of its extern __shared__ memory: the launch ");
    expect_death("before_shared_memory", SHARED_KERNEL,
                 ", which is 65536 bytes before the beginning of its extern __shared__ memory: ");
    expect_death(
        "without_shared_memory", SHARED_KERNEL,
        ", which is 16 bytes past the end of its extern __shared__ memory: the launch gives "
        "it 0 bytes, by <<<grid, block, bytes>>> or");
    expect_child("within_shared_memory");
}

#define ON_THE_HOST "which is memory of the host that CUDA does not know"

static void expect_line(const char *child, bool wanted)
{
    char said[8192];
    ck_assert_msg(child_run(child, said, sizeof(said)) == 0, "%s: %s", child, said);
    const char *line = strstr(said, ON_THE_HOST);
    ck_assert_msg(!line == !wanted, "%s: %s", child, said);
    ck_assert_msg(!line || !strstr(line + 1, ON_THE_HOST), "%s, twice: %s", child, said);
}

/* Catches: a kernel was given memory of malloc without a word, which a GPU faults on. */
TEST(memory_of_the_host)
{
    need_software();
    expect_line("to_small_memory", true);
    expect_line("to_large_memory", true);
    expect_line("to_the_stack", true);
    expect_line("to_known_memory", false);
}

TEST(others_than_kernels)
{
    need_software();
    expect_death("by_the_application", "driver: the application accessed address 0x",
                 ", which is 24 bytes past the end of device memory of cuMemAlloc (1000 bytes at ");
    /* Where they begin is the C library's choice. */
    expect_death("by_a_fill", "driver: a fill accessed address 0x",
                 " of an OpenGL buffer, after cuGraphicsUnregisterResource\n");
    expect_death("by_a_copy", "driver: a copy accessed address 0x",
                 " of an OpenGL buffer, after cuGraphicsUnregisterResource\n");
}

/* ---- Signals that are the application's ------------------------------------------------------ */

static void *expected;
static volatile sig_atomic_t caught;

/* Repairs the access, as who keeps pages for later does. */
static void open_page(int number, siginfo_t *info, void *machine)
{
    (void)number;
    (void)machine;
    if (info->si_addr == expected && mprotect(expected, 4096, PROT_READ | PROT_WRITE) == 0)
        caught++;
    else
        _exit(3);
}

/* The handler is there before the driver's, and so gets what the driver passes on. */
CHILD(own_handler)
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

TEST(faults_are_handed_on)
{
    need_software();
    expect_child("own_handler");
}

/* Catches: the handler took a signal that somebody sent for a fault that would come again. */
CHILD(sent_signal)
{
    CUdeviceptr memory = allocated(SIZE);
    CU(MemFree(memory));
    fprintf(stderr, "about to raise the signal: yes\n");
    raise(SIGSEGV);
    return 0;
}

TEST(signals_that_are_sent_end_the_process)
{
    need_software();
    expect_death("sent_signal", "about to raise ", "the signal: yes");
}

GROUP("stacks", add_soft_case)

static int with_frame(const char *kernel)
{
    CUdeviceptr out = allocated(SIZE);
    soft_launch(kernel, (struct extents){.x = 2}, (struct extents){.x = 33}, fx.stream,
                (void *[]){&out});
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

CHILD(frame_of_66000)
{
    return with_frame("frame_66000");
}

CHILD(frame_of_300000)
{
    return with_frame("frame_300000");
}

CHILD(endless_recursion)
{
    CUdeviceptr out = allocated(SIZE);
    unsigned depth = 100 * 1000 * 1000;
    soft_run("recurse", (void *[]){&out, &depth});
    return 0;
}

/* Catches: 66,000 bytes on the stack stepped over the canary unseen. */
TEST(stacks_of_threads_with_barriers)
{
    need_software();
    if (!sanitizer()) /* whose stacks are larger */
        expect_death("frame_of_66000", "kernel frame_66000 needs more stack than the 65536 bytes",
                     " bytes that a thread has: make its local arrays smaller, ");
    expect_death("frame_of_300000", "kernel frame_300000 needs more stack than the ",
                 " bytes that a thread has: make its local arrays smaller, ");
}

TEST(stacks_of_threads_without)
{
    need_software();
    expect_death("endless_recursion", "kernel recurse needs more stack than the ",
                 " bytes that a thread has: make its local arrays smaller, ");
}

/* Of the first one by itself, of the second one as the program asks for stack. */
TEST(a_frame_that_fits, 2)
{
    need_software();
    unsigned char bytes[64] = {0};
    CUdeviceptr out = soft_memory(bytes, sizeof(bytes));
    size_t before;
    CU(CtxGetLimit(&before, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(before, 1024);
    if (_i)
        CU(CtxSetLimit(CU_LIMIT_STACK_SIZE, 400000));
    soft_launch(_i ? "frame_300000" : "frame_16000", (struct extents){.x = 1},
                (struct extents){.x = 64}, fx.stream, (void *[]){&out});
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(bytes, out, sizeof(bytes)));
    for (unsigned i = 0; i < sizeof(bytes); i++)
        ck_assert_uint_eq(bytes[i], i);
    CU(CtxSetLimit(CU_LIMIT_STACK_SIZE, before));
    CU(MemFree(out));
}

GROUP("accesses that do not", add_soft_case)

static const size_t sizes[] = {1, 255, 256, 512, 513, SIZE, 4095, 4096, 4097, 70000};

/* A kernel writes the first and the last byte. */
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
    find_range(memory + size - 1, &base, &found);
    ck_assert_uint_eq(base, memory);
    ck_assert_uint_eq(found, size);
    write_ends(memory, size);
    unsigned char *bytes = soft_bytes(memory, size);
    assert_ends(bytes, size);
    free(bytes);
}

TEST(first_and_last_bytes_of_allocations, sizeof(sizes) / sizeof(*sizes))
{
    need_software();
    size_t size = sizes[_i];
    CUdeviceptr memory = 0;
    void *host = NULL;
    CU(MemAlloc(&memory, size));
    check_ends(memory, size);
    CU(MemFree(memory));
    allocate_managed(&memory, size);
    check_ends(memory, size);
    CU(MemFree(memory));
    CU(MemAllocAsync(&memory, size, fx.stream));
    check_ends(memory, size);
    CU(MemFreeAsync(memory, fx.stream));
    CU(MemAllocHost(&host, size));
    ck_assert_uint_eq((uintptr_t)host % 4096, 0);
    check_ends((CUdeviceptr)(uintptr_t)host, size);
    CU(MemFreeHost(host));
}

TEST(first_and_last_bytes_of_mapped_buffers, sizeof(sizes) / sizeof(*sizes))
{
    need_software();
    size_t size = sizes[_i];
    GLuint name = gl_buffer_filled(size, 1);
    unsigned char *bytes = malloc(size);
    ck_assert(bytes);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    assert_made(resource);
    for (int i = 0; i < 2; i++) {
        gr_buffer *buffer = gr_map(resource, fx.stream);
        assert_made(buffer);
        ck_assert_uint_eq(gr_buffer_ptr(buffer) % 512, 0);
        write_ends(gr_buffer_ptr(buffer), size);
        assert_ok(gr_buffer_release(buffer));
        gl_read(name, bytes, size);
        assert_ends(bytes, size);
    }
    gr_resource_free(resource);
    free(bytes);
}

/* ---- Many ------------------------------------------------------------------------------------ */

/* The last ones have no guards: the process has not that many memory maps. */
#define MANY 34000

static CUdeviceptr many[MANY];

static void assert_is(int i)
{
    unsigned char bytes[2];
    CU(MemcpyDtoH(bytes, many[i], 2));
    ck_assert_uint_eq(bytes[0], (unsigned char)i);
    ck_assert_uint_eq(bytes[1], 0xCB);
}

TEST(tens_of_thousands_of_allocations)
{
    need_software();
    if (thread_sanitizer())
        skip("ThreadSanitizer needs the process's memory maps itself");
    for (int i = 0; i < MANY; i++) {
        CU(MemAlloc(&many[i], 2));
        CU(MemsetD8(many[i], (unsigned char)i, 1));
    }
    for (int i = 0; i < MANY; i += 1 + i % 2 * 2)
        assert_is(i);
    for (int i = 0; i < MANY; i += 2)
        CU(MemFree(many[i]));
    for (int i = 1; i < MANY; i += 2)
        assert_is(i);
    for (int i = 1; i < MANY; i += 2)
        CU(MemFree(many[i]));
}

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "guards of the software driver", NULL);
}
