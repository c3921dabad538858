/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Guarantees that only the software CUDA driver gives: a bug that a GPU may hide becomes visible as
 * a wrong byte, or as a fault with a message.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_launch.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/support/kernel_image.h"

#define SIZE 1000

/* The values with which the driver fills uninitialised memory. */
#define FRESH 0xCB /* the value of bytes in a new allocation */
/* the value of bytes in a mapped buffer before its data is filled in, and of discarded bytes */
#define DISCARDED 0xCD

static unsigned char *pinned(size_t size)
{
    void *memory = NULL;
    CU(MemAllocHost(&memory, size));
    memset(memory, 0, size);
    return memory;
}

GROUP("missing waits", add_case)

/*
 * The writer is blocked on one stream. The reader, on another stream, waits for the writer if
 * `wait`. The reader must see the value `seen`.
 */
static void read_behind_writer(bool wait, int seen)
{
    CUdeviceptr memory = 0;
    CUevent written = NULL;
    unsigned char *copy = pinned(SIZE);
    CU(MemAlloc(&memory, SIZE));
    CU(EventCreate(&written, CU_EVENT_DISABLE_TIMING));
    CU(MemsetD8Async(memory, 1, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.stream);
    CU(MemsetD8Async(memory, 2, SIZE, fx.stream));
    CU(EventRecord(written, fx.stream));
    if (wait) {
        CU(StreamWaitEvent(fx.other, written, 0));
        gate_open_after(gate, 50);
    }
    CU(MemcpyDtoHAsync(copy, memory, SIZE, fx.other));
    CU(StreamSynchronize(fx.other));
    assert_bytes(copy, SIZE, seen);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
}

SOFT_TEST(missing_wait_for_a_writer_is_visible)
{
    read_behind_writer(false, 1);
    read_behind_writer(true, 2);
}

/* The OpenGL data is filled in when the stream reaches the map, not before. */
SOFT_TEST(missing_wait_for_the_map_is_visible)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    unsigned char *copy = pinned(SIZE);
    gr_resource *resource = must_register_as(name, GR_READ_ONLY);
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = must_map(resource);
    CU(MemcpyDtoHAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.other));
    CU(StreamSynchronize(fx.other));
    assert_bytes(copy, SIZE, DISCARDED);
    gate_open(gate);
    CU(MemcpyDtoHAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_bytes(copy, SIZE, 0x3a);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
}

/* If no work is queued, the stream reaches the map immediately. */
SOFT_TEST(map_in_an_idle_context_fills_the_memory_at_once)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    gr_resource *resource = must_register_as(name, GR_READ_ONLY);
    CU(CtxSynchronize());
    gr_buffer *buffer = must_map(resource);
    CU(StreamQuery(fx.stream));
    assert_bytes((const unsigned char *)(uintptr_t)gr_buffer_ptr(buffer), SIZE, 0x3a);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
}

/* A release on a stream other than that of the writer does not wait for the writer. */
SOFT_TEST(release_does_not_wait_for_other_streams)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map(resource);
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.other);
    CUdeviceptr copy = 0;
    CU(MemAlloc(&copy, SIZE));
    CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.stream));
    CU(MemsetD8Async(copy, 0x77, SIZE, fx.other));
    /* the release returns, although the other stream is blocked */
    assert_ok(gr_buffer_release(buffer));
    ck_assert(!gate_is_open(gate));
    assert_gl_bytes(name, SIZE, 0x3a);
    gate_open(gate);
    CU(StreamSynchronize(fx.other));
    gr_resource_free(resource);
}

GROUP("memory", add_case)

static void assert_device_bytes(CUdeviceptr memory, int value)
{
    unsigned char copy[SIZE] = {0};
    CU(MemcpyDtoH(copy, memory, SIZE));
    assert_bytes(copy, SIZE, value);
}

SOFT_TEST(fresh_memory_is_poisoned)
{
    CUdeviceptr memory = 0;
    for (int i = 0; i < 2; i++) {
        CU(MemAlloc(&memory, SIZE));
        assert_device_bytes(memory, FRESH);
        CU(MemsetD8(memory, 0, SIZE));
        CU(MemFree(memory));
        CU(MemAllocAsync(&memory, SIZE, fx.stream));
        CU(StreamSynchronize(fx.stream));
        assert_device_bytes(memory, FRESH);
        CU(MemsetD8Async(memory, 0, SIZE, fx.stream));
        CU(MemFreeAsync(memory, fx.stream));
        CU(StreamSynchronize(fx.stream));
    }
}

/* GR_SOFT_FILL, which run-test sets to 64, limits what is poisoned of 2 MiB, but not of 4 MiB. */
SOFT_TEST(fresh_memory_of_cuMemCreate_is_poisoned, 3)
{
    const int64_t size = _i == 1 ? 3 << 20 : 1 << 20;
    if (_i == 2)
        unsetenv("GR_SOFT_FILL");
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = &size, .exportable = true);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    setenv("GR_SOFT_FILL", "64", 1);
    const CUdeviceptr memory = gr_tensor_get_info(tensor)->ptr;
    assert_device_bytes(memory, FRESH);
    assert_device_bytes(memory + (64 << 10) - SIZE, FRESH);
    assert_device_bytes(memory + (64 << 10), _i ? FRESH : 0);
    assert_device_bytes(memory + (CUdeviceptr)size - SIZE, _i ? FRESH : 0);
}

SOFT_TEST(discarded_bytes_are_visible)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_WRITE_DISCARD, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_device_bytes(gr_buffer_ptr(buffer), DISCARDED);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 5, SIZE / 2, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    /* OpenGL sees the discarded bytes that the application did not write. */
    unsigned char bytes[SIZE];
    gl_read(name, bytes, SIZE);
    assert_bytes(bytes, SIZE / 2, 5);
    assert_bytes(bytes + SIZE / 2, SIZE - SIZE / 2, DISCARDED);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void begin_child(void)
{
    fixture_setup();
    child_check(!kernels_load());
}

/* Runs one block, so that its first thread accesses the memory first. */
static int run_kernel_on(CUdeviceptr memory)
{
    kernel_add_one(memory, 256, fx.stream);
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

CHILD(use_after_unmap)
{
    begin_child();
    gr_buffer *buffer =
        must_make(gr_map_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, fx.stream));
    CUdeviceptr stale = gr_buffer_ptr(buffer);
    child_check(gr_resource_unmap(NULL, fx.stream) != GR_OK);
    child_check(gr_buffer_release(buffer) == GR_OK);
    return run_kernel_on(stale);
}

CHILD(use_between_maps)
{
    begin_child();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    CUdeviceptr stale = gr_buffer_ptr(buffer);
    child_check(gr_buffer_release(buffer) == GR_OK);
    return run_kernel_on(stale);
}

CHILD(use_after_free)
{
    begin_child();
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, SIZE));
    CU(MemFree(memory));
    return run_kernel_on(memory);
}

SOFT_TEST(stale_pointers_fault_with_a_message)
{
    need_kernels();
    expect_death("use_after_unmap", "kernel add_one accessed address 0x",
                 ", which is byte 0 of an OpenGL buffer, after cuGraphicsUnregisterResource\n");
    expect_death("use_between_maps", "kernel add_one accessed address 0x", "used after its unmap");
    expect_death("use_after_free", "kernel add_one accessed address 0x",
                 ", which is byte 0 of device memory after cuMemFree\n");
}

GROUP("kernels", add_case)

SOFT_TEST(kernels_run_on_all_cores)
{
    /*
     * LeakSanitizer takes the thread-local variables of the kernels for a table of its own, and
     * crashes at exit.
     */
    if (sanitizer() && strcmp(sanitizer(), "AddressSanitizer") == 0)
        skip("the leak check of AddressSanitizer crashes in this test");
    cpu_set_t set;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    unsigned cores = (unsigned)CPU_COUNT(&set);
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr arrived = 0, threads = 0;
    unsigned long long *ids = calloc(cores, sizeof(*ids));
    ck_assert(kernel_image_load(soft_kernels(), &module));
    CU(ModuleGetFunction(&function, module, "meet"));
    CU(MemAlloc(&arrived, sizeof(unsigned)));
    CU(MemAlloc(&threads, cores * sizeof(*ids)));
    CU(MemsetD8Async(arrived, 0, sizeof(unsigned), fx.stream));
    void *parameters[] = {&arrived, &threads};
    CU(LaunchKernel(function, cores, 1, 1, 1, 1, 1, 0, fx.stream, parameters, NULL));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(ids, threads, cores * sizeof(*ids)));
    for (unsigned i = 0; i < cores; i++)
        for (unsigned k = 0; k < i; k++)
            ck_assert_msg(ids[i] != ids[k], "blocks %u and %u of %u ran on one thread", k, i,
                          cores);
    free(ids);
}

GROUP("arithmetic", add_soft_case)

/*
 * Catches: g++ for AArch64 combined __fmul_rn() and a sum, and rounded only once. The square of
 * `factor` loses its last bit only if it is rounded before the sum.
 */
SOFT_TEST(products_are_rounded_separately)
{
    const float zeros[5] = {0};
    CUdeviceptr out = soft_memory(zeros, sizeof(zeros));
    float factor = 1 + 0x1p-12f, square = -(1 + 0x1p-11f);
    void *parameters[] = {&out, &factor, &factor, &square};
    ck_assert_int_eq(soft_run("round_each", parameters), CUDA_SUCCESS);
    const float *results = soft_bytes(out, sizeof(zeros));
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(results[i], 0);
    ck_assert_float_eq(results[4], 0x1p-24f);
}

GROUP("memory", add_case)

static long page; /* what sysconf() returns; 0: the real page size */

/*
 * The sysconf() of glibc. ThreadSanitizer calls sysconf() before main(), when dlsym() cannot be
 * used yet.
 */
long __sysconf(int name);

__attribute__((no_sanitize("thread", "address"))) long sysconf(int name)
{
    return name == _SC_PAGESIZE && page ? page : __sysconf(name);
}

/*
 * Linux kernels for Grace use pages of 64 KiB. Catches: the data of exported memory began at 4 KiB,
 * where a page of 64 KiB cannot be mapped, so the import failed.
 */
SOFT_TEST(exported_data_begins_at_a_page_boundary)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}};
    CUmemGenericAllocationHandle made = 0, taken = 0;
    int fd = -1;
    page = 65536;
    CUresult create = gr_cuda()->MemCreate(&made, (size_t)2 << 20, &prop, 0);
    CUresult export = gr_cuda()->MemExportToShareableHandle(
        &fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    CUresult import = gr_cuda()->MemImportFromShareableHandle(
        &taken, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    page = 0;
    ck_assert_int_eq(create, CUDA_SUCCESS);
    ck_assert_int_eq(export, CUDA_SUCCESS);
    ck_assert_int_eq(import, CUDA_SUCCESS);
    close(fd);
    CU(MemRelease(taken));
    CU(MemRelease(made));
}

GROUP("what it is", add_case)

SAYS(call_missing_function, "cuTexRefCreate", "cuTexRefCreate is not implemented")
{
    CUtexref reference = NULL;
    child_check(gr_cuda_load(false) == GR_OK);
    for (int i = 0; i < 2; i++)
        child_check(gr_cuda()->TexRefCreate(&reference) == CUDA_ERROR_NOT_SUPPORTED);
    return 0;
}

/*
 * Makes the first call that libcudart of NVIDIA makes. Catches: a program that was also linked with
 * it got no message about the mistake.
 */
SAYS(get_export_table, "this program runs NVIDIA's libcudart, ", "do not link it")
{
    static const CUuuid id = {.bytes = {0x6b}};
    const void *table = NULL;
    child_check(gr_cuda_load(false) == GR_OK);
    for (int i = 0; i < 2; i++)
        child_check(gr_cuda()->GetExportTable(&table, &id) == CUDA_ERROR_NOT_SUPPORTED);
    child_check(!table);
    return 0;
}

SOFT_TEST(device_reports_that_it_is_not_a_gpu)
{
    char name[128], text[512];
    CU(DeviceGetName(name, sizeof(name), fx.device));
    ck_assert_msg(strstr(name, "no GPU"), "%s", name);
    ck_assert_msg(strstr(name, "software"), "%s", name);
    ck_assert_msg(!strstr(name, "NVIDIA"), "%s", name);
    gr_resource *resource = must_register(gl_buffer_filled(16, 1));
    gr_resource_describe(resource, text, sizeof(text));
    ck_assert_msg(strstr(text, "software CUDA driver"), "%s", text);
    gr_resource_free(resource);
}

/* ---- Exit ------------------------------------------------------------------------------------ */

/* If the process hangs at its exit, the alarm ends it. */
CHILD(exit_while_a_stream_waits)
{
    alarm(20);
    fixture_setup();
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, SIZE));
    gate_put(fx.stream);
    CU(MemsetD8Async(memory, 1, SIZE, fx.stream));
    gate_put(CU_STREAM_LEGACY);
    return 0;
}

CHILD(exit_while_mapped)
{
    static gr_buffer *volatile kept; /* reachable, so that leak checks do not report it */
    alarm(20);
    fixture_setup();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gate_put(fx.stream);
    child_check(kept = must_map(resource));
    gr_resource_free(resource);
    exit(0);
}

SOFT_TEST(exit_does_not_hang)
{
    expect_child("exit_while_a_stream_waits");
    expect_child("exit_while_mapped");
}
