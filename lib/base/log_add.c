/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* gr_log_add(), apart from log.c, because errors are logged. */
#include "lib/base/error.h"
#include "lib/base/log.h"

gr_status gr_log_add(gr_log_level level, gr_log_fn fn, void *user)
{
    GR_CALL();
    GR_REFUSE_IF((int)level < GR_LOG_NONE || level > GR_LOG_DEBUG,
                 "`level` is %d, which is no log level.", (int)level);
    if (gr_log_put(level, fn, user))
        return GR_OK;
    return gr_fail(GR_ERR_STATE, "The log already has %d functions: remove one first.",
                   GR_LOG_SINKS - 1);
}
