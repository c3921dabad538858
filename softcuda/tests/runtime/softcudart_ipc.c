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
#include <sys/wait.h>
#include <unistd.h>

#define SIZE   ((size_t)1000)
#define LAZY   cudaIpcMemLazyEnablePeerAccess
#define SHARED (cudaEventInterprocess | cudaEventDisableTiming)

/* The data that the second process reads from its standard input. */
struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled, answered;
};

/* ---- One process ----------------------------------------------------------------------------- */

CASE(refused_in_the_same_process)
{
    struct handles handles;
    cudaIpcMemHandle_t same;
    char *memory = NULL;
    void *pinned = NULL, *other = NULL;
    cudaEvent_t plain = NULL, shared = NULL, opened = NULL;
    CUDA(cudaMalloc((void **)&memory, SIZE));
    CUDA(cudaMallocHost(&pinned, SIZE));
    CUDA(cudaIpcGetMemHandle(&handles.memory, memory));
    CUDA(cudaIpcGetMemHandle(&same, memory + 8));
    REQUIRE(memcmp(&handles.memory, &same, sizeof(same)) == 0);
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(NULL, NULL));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&same, NULL));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&same, pinned));
    FAILS(cudaErrorDeviceUninitialized, cudaIpcOpenMemHandle(&other, handles.memory, LAZY));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(NULL));

    CUDA(cudaEventCreateWithFlags(&shared, SHARED));
    CUDA(cudaEventCreate(&plain));
    FAILS(cudaErrorInvalidValue, cudaIpcGetEventHandle(&handles.filled, NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&handles.filled, plain));
    CUDA(cudaIpcGetEventHandle(&handles.filled, shared));
    FAILS(cudaErrorDeviceUninitialized, cudaIpcOpenEventHandle(&opened, handles.filled));
#ifndef REAL_CUDART /* with NULL for a result, the libcudart of NVIDIA crashes */
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(NULL, memory));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(NULL, handles.memory, LAZY));
    FAILS(cudaErrorInvalidValue, cudaIpcGetEventHandle(NULL, shared));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenEventHandle(NULL, handles.filled));
#endif
}

/* ---- The second process ---------------------------------------------------------------------- */

/*
 * Copies the data of the first process, fills the memory with new data, and signals the first
 * process.
 */
static void answer(void)
{
    struct cudaPointerAttributes attributes;
    struct handles from;
    char seen[SIZE], *memory = NULL, *again = NULL;
    cudaEvent_t filled = NULL, answered = NULL;
    cudaIpcEventHandle_t handle;
    REQUIRE(read(STDIN_FILENO, &from, sizeof(from)) == (ssize_t)sizeof(from));
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle((void **)&memory, from.memory, 0));
    REQUIRE(!memory);
    CUDA(cudaIpcOpenMemHandle((void **)&memory, from.memory, LAZY));
    CUDA(cudaIpcOpenMemHandle((void **)&again, from.memory, LAZY));
    REQUIRE(memory && again == memory);
    CUDA(cudaPointerGetAttributes(&attributes, memory + 1));
    REQUIRE(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    REQUIRE(attributes.devicePointer == memory + 1 && !attributes.hostPointer);
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&from.memory, memory));
    FAILS(cudaErrorInvalidValue, cudaFree(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory + 1));
    CUDA(cudaIpcCloseMemHandle(memory));
    CUDA(cudaIpcOpenEventHandle(&filled, from.filled));
    CUDA(cudaIpcOpenEventHandle(&answered, from.answered));
    FAILS(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&handle, filled));
    CUDA(cudaStreamWaitEvent(NULL, filled, 0));
    CUDA(cudaMemcpyAsync(seen, memory, SIZE, cudaMemcpyDeviceToHost, NULL));
    CUDA(cudaMemsetAsync(memory, 9, SIZE, NULL));
    CUDA(cudaEventRecord(answered, NULL));
    CUDA(cudaEventSynchronize(answered));
    REQUIRE(seen[0] == 7 && seen[SIZE - 1] == 7);
    CUDA(cudaEventDestroy(filled));
    CUDA(cudaEventDestroy(answered));
    CUDA(cudaIpcCloseMemHandle(memory));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
}

int softcudart_second_process(void)
{
    alarm(50);
    const char *wrong = softcudart_run(answer);
    if (wrong)
        fprintf(stderr, "the second process: %s\n", wrong);
    return wrong != NULL;
}

/* ---- The first process ----------------------------------------------------------------------- */

/*
 * Runs the second process, and passes the handles to its standard input. Not by a shell: with clang
 * and AddressSanitizer, a shell cannot load the library that run-test preloads.
 */
static void run_other(const struct handles *given)
{
    char program[4096], option[] = SOFTCUDART_SECOND, *emulator = getenv("GR_TEST_EMULATOR");
    char *emulated[] = {emulator, program, option, NULL};
    char **command = emulated + (emulator && *emulator ? 0 : 1);
    posix_spawn_file_actions_t actions;
    int ends[2], status = -1;
    pid_t other = 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    REQUIRE(length > 0);
    program[length] = 0;
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(write(ends[1], given, sizeof(*given)) == (ssize_t)sizeof(*given));
    close(ends[1]);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    int failed = posix_spawnp(&other, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    REQUIRE(failed == 0 && waitpid(other, &status, 0) == other && status == 0);
}

CASE(two_processes)
{
    struct handles given;
    cudaEvent_t filled = NULL, answered = NULL;
    char *memory = NULL, seen[SIZE];
    CUDA(cudaMalloc((void **)&memory, SIZE));
    CUDA(cudaEventCreateWithFlags(&filled, SHARED));
    CUDA(cudaEventCreateWithFlags(&answered, SHARED));
    CUDA(cudaIpcGetMemHandle(&given.memory, memory));
    CUDA(cudaIpcGetEventHandle(&given.filled, filled));
    CUDA(cudaIpcGetEventHandle(&given.answered, answered));
    CUDA(cudaMemsetAsync(memory, 7, SIZE, NULL));
    CUDA(cudaEventRecord(filled, NULL));
    run_other(&given);
    CUDA(cudaEventQuery(answered));
    CUDA(cudaEventSynchronize(answered));
    CUDA(cudaMemcpy(seen, memory, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(seen[0] == 9 && seen[SIZE - 1] == 9);
}
