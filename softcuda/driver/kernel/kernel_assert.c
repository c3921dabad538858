/* SPDX-License-Identifier: Apache-2.0 */
/* An assertion of a kernel that fails: a line as CUDA's, and the end of the kernel alone. */
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/kernel/kernel_run.h"
#include "softcuda/driver/kernel/program.h"

#include <stdio.h>

void gr_softcuda_assert(const char *expression, const char *file, unsigned line,
                        const unsigned block[3], const unsigned thread[3])
{
    if (!soft_this_work.name)
        return;
    fflush(stdout); /* what the kernel has printed comes first */
    fprintf(stderr,
            "%s:%u: kernel %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s' failed.\n",
            file, line, soft_this_work.name, block[0], block[1], block[2], thread[0], thread[1],
            thread[2], expression);
    soft_fibre_stop();
    soft_block_stop();
}
