/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The semaphores of the software CUDA driver: helpers that the files share, and result codes. */
#define _GNU_SOURCE
#include "soft_semaphore.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

START(fixture_ends_context = true)

/* ---- Helpers --------------------------------------------------------------------------------- */

int make_fd(bool timeline, unsigned long long value)
{
    int fd = -1;
    assert_result(CUDA_SUCCESS, soft.create(timeline, value, &fd), "create");
    ck_assert_int_ge(fd, 0);
    return fd;
}

CUresult try_import(int fd, CUexternalSemaphoreHandleType type, CUexternalSemaphore *semaphore)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {.type = type, .handle.fd = fd};
    return fx.cu->ImportExternalSemaphore(semaphore, &desc);
}

CUexternalSemaphore import_fd(int fd, CUexternalSemaphoreHandleType type)
{
    CUexternalSemaphore semaphore = NULL;
    assert_result(CUDA_SUCCESS, try_import(fd, type, &semaphore), "import");
    ck_assert_ptr_ne(semaphore, NULL);
    return semaphore;
}

CUexternalSemaphore import_copy(int fd, CUexternalSemaphoreHandleType type)
{
    return import_fd(fcntl(fd, F_DUPFD_CLOEXEC, 0), type);
}

CUexternalSemaphore make_semaphore(CUexternalSemaphoreHandleType type)
{
    return import_fd(make_fd(type == TIMELINE, 0), type);
}

void put_signal(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    CU(SignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

void put_wait(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    CU(WaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

void assert_waits(CUstream stream)
{
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(stream));
}

GROUP("codes", add_case)

SEMAPHORE_TEST(creation_checks_its_arguments)
{
    int fd = -2;
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.create(1, 0, NULL), "create");
    assert_result(CUDA_ERROR_INVALID_VALUE, soft.create(0, 2, &fd), "create");
    ck_assert_int_eq(fd, -2);
    fd = make_fd(true, ~0ull);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    /* No process can remove the memory while others have mapped it. */
    ck_assert_int_eq(ftruncate(fd, 0), -1);
    ck_assert_int_eq(ftruncate(fd, 1 << 20), -1);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    close(fd);
}

SEMAPHORE_TEST(successful_import_takes_the_descriptor)
{
    CUexternalSemaphore a = NULL, b = NULL;
    int timeline = make_fd(true, 5), binary = make_fd(false, 1);
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(timeline, BINARY, &a), "wrong kind");
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(binary, TIMELINE, &a), "wrong kind");
    for (int type = 2; type <= 10; type++)
        if (type != TIMELINE)
            assert_result(CUDA_ERROR_NOT_SUPPORTED,
                          try_import(timeline, (CUexternalSemaphoreHandleType)type, &a), "Windows");
    assert_result(CUDA_ERROR_INVALID_VALUE,
                  try_import(timeline, (CUexternalSemaphoreHandleType)11, &a), "type 11");
    ck_assert_ptr_eq(a, NULL);
    /*
     * After the failed imports above, the caller still owns the descriptors. After these successful
     * imports, the driver owns them.
     */
    assert_result(CUDA_SUCCESS, try_import(timeline, TIMELINE, &a), "timeline");
    assert_result(CUDA_SUCCESS, try_import(binary, BINARY, &b), "binary");
    ck_assert(fcntl(timeline, F_GETFD) == -1 && errno == EBADF);
    ck_assert(fcntl(binary, F_GETFD) == -1 && errno == EBADF);
    ck_assert_ptr_ne(a, b);
    CU(DestroyExternalSemaphore(a));
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE, DestroyExternalSemaphore(a));
}

static void refuse_and_close(int fd, const char *what)
{
    CUexternalSemaphore semaphore = NULL;
    ck_assert_msg(fd >= 0, "%s: %s", what, strerror(errno));
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(fd, BINARY, &semaphore), what);
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(fd, TIMELINE, &semaphore), what);
    ck_assert_ptr_eq(semaphore, NULL);
    ck_assert_int_eq(close(fd), 0);
}

/* Creates a file that looks like a semaphore, with or without its seals. */
static int make_imitation(const void *bytes, size_t size, bool sealed)
{
    int fd = memfd_create("imitation", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    if (sealed)
        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    return fd;
}

SEMAPHORE_TEST(foreign_descriptors_are_refused)
{
    CUexternalSemaphore semaphore = NULL;
    unsigned char bytes[256] = {0};
    char path[64];
    int ends[2], fd = make_fd(true, 7);
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    ck_assert_int_gt(size, 8);
    ck_assert_int_lt(size, (ssize_t)sizeof(bytes));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(-1, TIMELINE, &semaphore), "-1");
    assert_result(CUDA_ERROR_INVALID_VALUE, try_import(9999, TIMELINE, &semaphore), "9999");
    refuse_and_close(open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null");
    refuse_and_close(open("/", O_RDONLY | O_CLOEXEC), "a folder");
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    refuse_and_close(ends[0], "a pipe");
    close(ends[1]);
    refuse_and_close(open(path, O_RDONLY | O_CLOEXEC), "a read-only semaphore");
    refuse_and_close(make_imitation(bytes, (size_t)size, false), "not sealed");
    refuse_and_close(make_imitation(bytes, (size_t)size - 1, true), "too short");
    refuse_and_close(make_imitation(bytes, (size_t)size + 1, true), "too long");
    refuse_and_close(make_imitation(bytes, 0, true), "empty");
    /* A file with the right bytes is a semaphore, and each byte of the first two words matters. */
    assert_result(CUDA_SUCCESS,
                  try_import(make_imitation(bytes, (size_t)size, true), TIMELINE, &semaphore),
                  "a copy");
    CU(DestroyExternalSemaphore(semaphore));
    semaphore = NULL;
    for (int i = 0; i < 8; i++) {
        bytes[i] ^= 0x40;
        refuse_and_close(make_imitation(bytes, (size_t)size, true), "another byte");
        bytes[i] ^= 0x40;
    }
    close(fd);
}

SEMAPHORE_TEST(invalid_calls_are_refused)
{
    CUexternalSemaphore two[2] = {make_semaphore(TIMELINE), make_semaphore(BINARY)};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signals[2] = {{.params.fence.value = 1}, {.flags = 0}};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[2] = {{.params.fence.value = 1}, {.flags = 0}};
    CUstream gone = NULL;
#define BOTH(code, semaphores, count, stream)                                                      \
    do {                                                                                           \
        CU_GIVES(code, SignalExternalSemaphoresAsync(semaphores, signals, count, stream));         \
        CU_GIVES(code, WaitExternalSemaphoresAsync(semaphores, waits, count, stream));             \
    } while (0)
    BOTH(CUDA_ERROR_INVALID_VALUE, two, 0, fx.stream);
    signals[1].flags = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC;
    waits[1].flags = CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC;
    BOTH(CUDA_ERROR_INVALID_VALUE, two, 2, fx.stream);
    signals[1].flags = waits[1].flags = 0;
    CU(StreamCreate(&gone, CU_STREAM_NON_BLOCKING));
    CU(StreamDestroy(gone));
    BOTH(CUDA_ERROR_INVALID_HANDLE, two, 2, gone);
    CUexternalSemaphore stale[2] = {two[0], two[1]};
    CU(DestroyExternalSemaphore(two[1]));
    BOTH(CUDA_ERROR_INVALID_HANDLE, stale, 2, fx.stream);
    stale[1] = (CUexternalSemaphore)(void *)fx.stream;
    BOTH(CUDA_ERROR_INVALID_HANDLE, stale, 2, fx.stream);
#undef BOTH
    /*
     * None of these calls has waited or signalled: the value 1 can still be signalled and waited
     * for.
     */
    CU(StreamQuery(fx.stream));
    put_wait(two[0], 1, fx.stream);
    assert_waits(fx.stream);
    put_signal(two[0], 1, fx.other);
    CU(StreamSynchronize(fx.stream));
}

SEMAPHORE_TEST(semaphore_ends_with_its_context)
{
    CUexternalSemaphore here = make_semaphore(TIMELINE), there = NULL;
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS one = {.params.fence.value = 1};
    CUcontext second = new_context(NULL);
    there = make_semaphore(TIMELINE);
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE,
             SignalExternalSemaphoresAsync(&here, &one, 1, CU_STREAM_LEGACY));
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE, SignalExternalSemaphoresAsync(&there, &one, 1, fx.stream));
    CU(SignalExternalSemaphoresAsync(&here, &one, 1, fx.stream));
    /* The semaphore is destroyed with its context. */
    CU(CtxDestroy(second));
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE, DestroyExternalSemaphore(there));
    CU(CtxSetCurrent(fx.context));
    CU(StreamSynchronize(fx.stream));
}

/* ---- The program ----------------------------------------------------------------------------- */
