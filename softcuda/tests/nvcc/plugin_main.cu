/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loads and unloads a library. Catches: after that, an allocation at the former address of the
 * library's managed variable was refused.
 */
#include "expect.h"

#include <dlfcn.h>

static cudaMemoryType type_of(const void *pointer)
{
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
}

static int *load(void **plugin)
{
    *plugin = dlopen("./plugin.so", RTLD_NOW);
    EXPECT(*plugin, "%s", dlerror());
    int *(*start)() = (int *(*)())dlsym(*plugin, "start_plugin");
    EXPECT(start, "no start_plugin");
    return start();
}

int main()
{
    void *plugin, *memory[8];
    for (int round = 0; round < 3; round++) {
        const int *values = load(&plugin);
        EXPECT(values[31] == 5, "values[31] is %d", values[31]);
        EXPECT(type_of(values) == cudaMemoryTypeManaged, "round %d", round);
        dlclose(plugin);
        EXPECT(type_of(values) == cudaMemoryTypeUnregistered, "round %d", round);
        for (void *&piece : memory)
            CUDA(cudaMalloc(&piece, 1 << 22));
        for (void *piece : memory)
            CUDA(cudaFree(piece));
    }
    return 0;
}
