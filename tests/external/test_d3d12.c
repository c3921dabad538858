/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs examples/hello_d3d12.c, whose main() the linker renames, on the Direct3D 12 of Wine and with
 * the follower driver: each case in a process of its own, which ends as the example ends.
 */
#define COBJMACROS
#define INITGUID
#include "d3d12_handles.h"

#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxgi1_4.h>

#include <grinterop/cuda.h>

#include "tests/drivers/follower_driver.h"
#include "tests/support/cuda_symbol.h"
#include "tests/support/plain_case.h"

#define OUTPUT "test_d3d12.txt"

static const struct follower_api *follower;

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

/* ---- In the process of a case ---------------------------------------------------------------- */

/* Gives the CUDA device the LUID of the first adapter. */
static bool begin_driver(const char *program, bool other_adapter)
{
    static const unsigned char uuid[16] = {1};
    IDXGIFactory4 *factory;
    IDXGIAdapter *adapter;
    DXGI_ADAPTER_DESC desc;
    if (!plain_driver(program, "follower_driver") || gr_cuda_load(false) != GR_OK)
        return false;
    follower = cuda_symbol("follower_api", 2000);
    if (!follower || FAILED(CreateDXGIFactory1(&IID_IDXGIFactory4, (void **)&factory)) ||
        FAILED(IDXGIFactory4_EnumAdapters(factory, 0, &adapter)) ||
        FAILED(IDXGIAdapter_GetDesc(adapter, &desc)))
        return false;
    desc.AdapterLuid.HighPart += other_adapter;
    follower->identify(uuid, (const unsigned char *)&desc.AdapterLuid);
    return true;
}

/* The call of a function with this number, counted from 0. NULL if there were fewer calls. */
static const struct followed *nth(const char *call, size_t number)
{
    const struct followed *found = follower->nth(0);
    for (size_t i = 0; found; found = follower->nth(++i))
        if (strcmp(found->call, call) == 0 && number-- == 0)
            return found;
    return NULL;
}

static bool is_closed(HANDLE handle)
{
    DWORD information;
    return !GetHandleInformation(handle, &information);
}

/* What reached CUDA: types, flags, sizes and values. */
static const char *calls_are_right(void)
{
    const struct followed *memory = nth("cuImportExternalMemory", 0);
    const struct followed *fence = nth("cuImportExternalSemaphore", 0);
    if (d3d12_handles.wrong)
        FAIL("%s", d3d12_handles.wrong);
    REQUIRE(memory && memory->target == CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE);
    REQUIRE(memory->flags == CUDA_EXTERNAL_MEMORY_DEDICATED);
    REQUIRE(memory->count == d3d12_handles.size && memory->count % 65536 == 0);
    REQUIRE(fence && fence->target == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE);
    REQUIRE(is_closed(memory->handle) && is_closed(fence->handle));
    for (unsigned frame = 0; frame < 3; frame++) {
        const struct followed *wait = nth("cuWaitExternalSemaphoresAsync", frame);
        const struct followed *signal = nth("cuSignalExternalSemaphoresAsync", frame);
        REQUIRE(wait && wait->count == 2 * frame && signal && signal->count == 2 * frame + 1);
    }
    REQUIRE(!nth("cuImportExternalMemory", 1) && nth("cuDestroyExternalMemory", 0));
    REQUIRE(!nth("cuImportExternalSemaphore", 1) && nth("cuDestroyExternalSemaphore", 0));
    return NULL;
}

static int run_example(char **argv)
{
    const char *mode = argv[1];
    freopen(OUTPUT, "w", stdout);
    freopen(OUTPUT, "a", stderr);
    if (!begin_driver(argv[0], !strcmp(mode, "other-adapter")))
        return 2;
    d3d12_handles.added = strcmp(mode, "without-handles") != 0;
    if (strncmp(mode, "cuImport", 8) == 0)
        follower->answer(mode, CUDA_ERROR_INVALID_HANDLE);
    int status = __real_main(1, argv);
    const char *wrong = status ? NULL : calls_are_right();
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    return wrong ? 2 : status;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static const char *ends(const char *program, const char *mode, int status, const char *text)
{
    char output[4096] = "";
    int ended = (int)_spawnl(_P_WAIT, program, program, mode, NULL);
    FILE *file = fopen(OUTPUT, "r");
    REQUIRE(file);
    output[fread(output, 1, sizeof(output) - 1, file)] = 0;
    fclose(file);
    if (ended != status || !strstr(output, text))
        FAIL("status %d: %s", ended, output);
    return NULL;
}

int __wrap_main(int argc, char **argv)
{
    static const struct {
        const char *mode;
        int status;
        const char *text;
    } cases[] = {
        {"shared", 0, "Direct3D copied 3 frames that CUDA wrote."},
        /* As far as Wine 8.0 goes. */
        {"without-handles", 1, "CreateSharedHandle of the buffer: 0x80004001, which this Direct3D"},
        {"other-adapter", 1, "the adapter of the CUDA device: 0x887a0002"},
        {"cuImportExternalMemory", 1, "the memory of the type D3D12_RESOURCE. Usual causes:"},
        {"cuImportExternalSemaphore", 1, "the semaphore of the type D3D12_FENCE. Usual causes:"},
    };
    if (argc > 1)
        return run_example(argv);
    for (size_t i = 0; i < COUNT(cases); i++)
        plain_case("Direct3D 12", cases[i].mode,
                   ends(argv[0], cases[i].mode, cases[i].status, cases[i].text));
    return plain_verdict();
}
