/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A failed assertion of a kernel: prints a message as CUDA does, and ends only the kernel. */
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/kernel/kernel_run.h"
#include "softcuda/driver/kernel/program.h"

#include <stdio.h>

void gr_softcuda_assert(const char *expression, const char *file, unsigned line,
                        const unsigned block[3], const unsigned thread[3])
{
    if (!soft_this_work.name)
        return;
    fflush(stdout); /* the kernel's output is printed first */
    fprintf(stderr,
            "%s:%u: kernel %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s' failed.\n",
            file, line, soft_this_work.name, block[0], block[1], block[2], thread[0], thread[1],
            thread[2], expression);
    soft_fibre_stop();
    soft_block_stop();
}
