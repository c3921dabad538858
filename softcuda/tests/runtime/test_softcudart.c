/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The runtime API on the software driver: data and error codes, group by group. */
#include "softcudart.h"

#include <string.h>

unsigned char softcudart_byte(size_t i)
{
    return (unsigned char)(i * 7 + i / 251);
}

void softcudart_pattern(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = softcudart_byte(i);
}

int softcudart_is_pattern(const void *bytes, size_t size, size_t first)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] != softcudart_byte(first + i))
            return 0;
    return 1;
}

static void run(const char *group, const struct softcudart_case *cases)
{
    for (; cases->name; cases++) {
        plain_case(group, cases->name, cases->run());
        (void)cudaGetLastError();
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], SOFTCUDART_SECOND) == 0)
        return softcudart_second_process();
    run("errors", softcudart_errors); /* contains the first CUDA call of the process */
    run("devices", softcudart_devices);
    run("memory", softcudart_memory);
    run("copies", softcudart_copies);
    run("arrays", softcudart_arrays);
    run("streams", softcudart_streams);
    run("twins", softcudart_twins);
    run("ipc", softcudart_ipc);
#ifndef REAL_CUDART
    run("kernels", softcudart_kernels);
#endif
    return plain_verdict();
}
