/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory and events that two processes share. The second process is this program with an argument.
 */
#define _GNU_SOURCE
#define GROUP "ipc"
#include "softcudart.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)1000)
#define LAZY cudaIpcMemLazyEnablePeerAccess

/* The data that the second process reads from its standard input. */
struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled, answered;
};

/* ---- One process ----------------------------------------------------------------------------- */

CASE(memory_refused)
{
    cudaIpcMemHandle_t handle, same;
    char *memory = NULL, own[16];
    void *other = NULL;
    CUDA(cudaMalloc((void **)&memory, SIZE));
    CUDA(cudaIpcGetMemHandle(&handle, memory));
    CUDA(cudaIpcGetMemHandle(&same, memory + 8));
    REQUIRE(memcmp(&handle, &same, sizeof(handle)) == 0);
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(NULL, NULL));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&same, NULL));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&same, own));
    FAILS(cudaErrorDeviceUninitialized, cudaIpcOpenMemHandle(&other, handle, LAZY));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(NULL));
    CUDA(cudaFree(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, memory));
    return NULL;
}

CASE(memory_of_other_kinds)
{
    cudaIpcMemHandle_t handle;
    void *pinned = NULL, *managed = NULL, *pooled = NULL;
    CUDA(cudaMallocHost(&pinned, SIZE));
    CUDA(cudaMallocManaged(&managed, SIZE, cudaMemAttachGlobal));
    CUDA(cudaMallocAsync(&pooled, SIZE, NULL));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, pinned));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, managed));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, pooled));
    CUDA(cudaFreeAsync(pooled, NULL));
    CUDA(cudaFree(managed));
    CUDA(cudaFreeHost(pinned));
    return NULL;
}

CASE(events_refused)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t plain = NULL, shared = NULL, other = NULL;
    FAILS(cudaErrorInvalidValue, cudaEventCreateWithFlags(&shared, cudaEventInterprocess));
    CUDA(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));
    CUDA(cudaEventCreate(&plain));
    FAILS(cudaErrorInvalidValue, cudaIpcGetEventHandle(&handle, NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&handle, plain));
    CUDA(cudaIpcGetEventHandle(&handle, shared));
    FAILS(cudaErrorDeviceUninitialized, cudaIpcOpenEventHandle(&other, handle));
    CUDA(cudaEventDestroy(shared));
    CUDA(cudaEventDestroy(plain));
    return NULL;
}

#ifndef REAL_CUDART
/* With NULL for a result, the libcudart of NVIDIA crashes. */
CASE(null_results)
{
    cudaIpcMemHandle_t memory_handle;
    cudaIpcEventHandle_t event_handle;
    cudaEvent_t shared = NULL;
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, SIZE));
    CUDA(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));
    CUDA(cudaIpcGetMemHandle(&memory_handle, memory));
    CUDA(cudaIpcGetEventHandle(&event_handle, shared));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(NULL, memory));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(NULL, memory_handle, LAZY));
    FAILS(cudaErrorInvalidValue, cudaIpcGetEventHandle(NULL, shared));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenEventHandle(NULL, event_handle));
    CUDA(cudaEventDestroy(shared));
    CUDA(cudaFree(memory));
    return NULL;
}
#endif

/* ---- The second process ---------------------------------------------------------------------- */

static const char *open_invalid(const struct handles *from)
{
    struct handles none;
    void *memory = NULL;
    memset(&none, 0, sizeof(none));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&memory, from->memory, 0));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&memory, from->memory, 2));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&memory, none.memory, LAZY));
    REQUIRE(!memory);
    return NULL;
}

static const char *use_opened(char *memory)
{
    struct cudaPointerAttributes attributes;
    cudaIpcMemHandle_t handle;
    CUDA(cudaPointerGetAttributes(&attributes, memory + 1));
    REQUIRE(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    REQUIRE(attributes.devicePointer == memory + 1 && !attributes.hostPointer);
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, memory));
    FAILS(cudaErrorInvalidValue, cudaFree(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory + 1));
    return NULL;
}

/*
 * Copies the data of the first process, fills the memory with new data, and signals the first
 * process.
 */
static const char *answer(char *memory, const struct handles *from)
{
    char seen[SIZE];
    cudaEvent_t filled = NULL, answered = NULL;
    cudaIpcEventHandle_t again;
    CUDA(cudaIpcOpenEventHandle(&filled, from->filled));
    CUDA(cudaIpcOpenEventHandle(&answered, from->answered));
    FAILS(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&again, filled));
    CUDA(cudaStreamWaitEvent(NULL, filled, 0));
    CUDA(cudaMemcpyAsync(seen, memory, SIZE, cudaMemcpyDeviceToHost, NULL));
    CUDA(cudaMemsetAsync(memory, 9, SIZE, NULL));
    CUDA(cudaEventRecord(answered, NULL));
    CUDA(cudaEventSynchronize(answered));
    CUDA(cudaEventQuery(answered));
    REQUIRE(seen[0] == 7 && seen[SIZE - 1] == 7);
    CUDA(cudaEventDestroy(filled));
    CUDA(cudaEventDestroy(answered));
    return NULL;
}

static const char *run_second_process(void)
{
    struct handles from;
    void *memory = NULL, *again = NULL;
    REQUIRE(read(STDIN_FILENO, &from, sizeof(from)) == (ssize_t)sizeof(from));
    PASS_ON(open_invalid(&from));
    CUDA(cudaIpcOpenMemHandle(&memory, from.memory, LAZY));
    CUDA(cudaIpcOpenMemHandle(&again, from.memory, LAZY));
    REQUIRE(memory && again == memory);
    PASS_ON(use_opened(memory));
    CUDA(cudaIpcCloseMemHandle(memory));
    PASS_ON(answer(memory, &from));
    CUDA(cudaIpcCloseMemHandle(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
    return NULL;
}

int softcudart_second_process(void)
{
    alarm(50);
    const char *wrong = run_second_process();
    if (wrong)
        fprintf(stderr, "the second process: %s\n", wrong);
    return wrong != NULL;
}

/* ---- The first process ----------------------------------------------------------------------- */

/* Starts the second process, with a pipe to its standard input. */
static const char *start_second_process(pid_t *other, int *to_it)
{
    char program[4096], option[] = SOFTCUDART_SECOND, *emulator = getenv("GR_TEST_EMULATOR");
    char *by_itself[] = {program, option, NULL}, *emulated[] = {emulator, program, option, NULL};
    char **command = emulator && *emulator ? emulated : by_itself;
    posix_spawn_file_actions_t actions;
    int ends[2];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    REQUIRE(length > 0);
    program[length] = 0;
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    int failed = posix_spawnp(other, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    REQUIRE(failed == 0);
    *to_it = ends[1];
    return NULL;
}

static const char *run_other(const struct handles *given)
{
    pid_t other = 0;
    int to_it = -1, status = -1;
    PASS_ON(start_second_process(&other, &to_it));
    ssize_t written = write(to_it, given, sizeof(*given));
    close(to_it);
    REQUIRE(waitpid(other, &status, 0) == other);
    REQUIRE(written == (ssize_t)sizeof(*given));
    REQUIRE(status == 0);
    return NULL;
}

CASE(two_processes)
{
    const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;
    struct handles given;
    cudaEvent_t filled = NULL, answered = NULL;
    char *memory = NULL, seen[SIZE];
    CUDA(cudaMalloc((void **)&memory, SIZE));
    CUDA(cudaEventCreateWithFlags(&filled, flags));
    CUDA(cudaEventCreateWithFlags(&answered, flags));
    CUDA(cudaIpcGetMemHandle(&given.memory, memory));
    CUDA(cudaIpcGetEventHandle(&given.filled, filled));
    CUDA(cudaIpcGetEventHandle(&given.answered, answered));
    CUDA(cudaMemsetAsync(memory, 7, SIZE, NULL));
    CUDA(cudaEventRecord(filled, NULL));
    PASS_ON(run_other(&given));
    CUDA(cudaEventQuery(answered));
    CUDA(cudaEventSynchronize(answered));
    CUDA(cudaMemcpy(seen, memory, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(seen[0] == 9 && seen[SIZE - 1] == 9);
    CUDA(cudaEventDestroy(filled));
    CUDA(cudaEventDestroy(answered));
    CUDA(cudaFree(memory));
    return NULL;
}
