/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The runtime API on the software driver: data and error codes, in groups of cases. */
#include "softcudart.h"

#include <setjmp.h>

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

static struct softcudart_case *cases; /* sorted by line */

void softcudart_list(struct softcudart_case *one)
{
    struct softcudart_case **link = &cases;
    while (*link && (*link)->line < one->line)
        link = &(*link)->next;
    one->next = *link;
    *link = one;
}

static jmp_buf end;
static const char *text;

_Noreturn void softcudart_end(const char *wrong)
{
    text = wrong;
    longjmp(end, 1);
}

const char *softcudart_run(void (*run)(void))
{
    if (setjmp(end) != 0)
        return text;
    run();
    return NULL;
}

static void reset_devices(void)
{
    int count = 0;
    (void)cudaGetDeviceCount(&count);
    while (count-- > 0) {
        (void)cudaSetDevice(count);
        (void)cudaDeviceReset();
    }
    (void)cudaGetLastError();
}

static void run(const char *group)
{
    for (const struct softcudart_case *one = cases; one; one = one->next)
        if (strcmp(one->group, group) == 0) {
            plain_case(group, one->name, softcudart_run(one->run));
            reset_devices();
        }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], SOFTCUDART_SECOND) == 0)
        return softcudart_second_process();
    run("errors"); /* contains the first CUDA call of the process */
    run("devices");
    run("memory");
    run("arrays");
    run("calls");
    run("twins");
    run("graphs");
    run("ipc");
#ifndef REAL_CUDART
    run("kernels");
#endif
    return plain_verdict();
}
