/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/probe_try.h"

#include <stdarg.h>
#include <stdio.h>

bool probe_fail(struct probe_try *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->failure, sizeof(t->failure), format, arguments);
    va_end(arguments);
    return false;
}

bool probe_error(struct probe_try *t)
{
    const gr_error *error = gr_last_error();
    t->error = gr_status_name(error->status);
    t->code = *error->code_name ? error->code_name : NULL;
    if (!t->code)
        return probe_fail(t, "%s", error->message);
    return probe_fail(t, "%s (%s: %s)", error->message, error->call, t->code);
}

bool probe_not_made(struct probe_try *t)
{
    t->absent = gr_last_error()->status == GR_ERR_UNSUPPORTED;
    return probe_error(t);
}

bool probe_is_cuda_fine(struct probe_try *t, CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (t->cu->GetErrorName(result, &t->code) != CUDA_SUCCESS)
        t->code = "a code without a name";
    return probe_fail(t,
                      "%s answered %s to a copy that is no more than that. Look at the kernel's "
                      "messages (dmesg: NVRM, Xid); restart the program, and the machine if it "
                      "stays so.",
                      call, t->code);
}
