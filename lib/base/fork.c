/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/fork.h"

#include "lib/base/error.h"

bool gr_forked;

gr_status gr_refuse_forked(void)
{
    return gr_fail(GR_ERR_STATE,
                   "This process was forked from one that had used grinterop. It has neither the "
                   "CUDA context nor the threads of its parent. Fork before the first call to "
                   "grinterop, or let the child call exec().");
}
