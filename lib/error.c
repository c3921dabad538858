/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread's last error: its record, and the names of its class and code. */
#include "lib/error.h"

#include <stdio.h>
#include <string.h>

#include "lib/log.h"

/* In the thread, not on the heap: an error can be that there is no heap left. */
static _Thread_local gr_error last_error;

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

gr_status gr_fail_list(gr_status status, int code, const char *code_name, const char *call,
                       const char *format, va_list arguments)
{
    gr_error *e = &last_error;
    e->status = status;
    e->code = code;
    copy_text(e->code_name, sizeof(e->code_name), code_name);
    copy_text(e->call, sizeof(e->call), call);
    vsnprintf(e->message, sizeof(e->message), format, arguments);
    if (e->code_name[0])
        gr_log(GR_LOG_ERROR, "%s: %s (%s %d)", e->call, e->message, e->code_name, e->code);
    else
        gr_log(GR_LOG_ERROR, "%s: %s", e->call, e->message);
    return status;
}

gr_status gr_fail(gr_status status, const char *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gr_fail_list(status, 0, NULL, call, format, arguments);
    va_end(arguments);
    return status;
}

gr_status gr_fail_code(gr_status status, int code, const char *code_name, const char *call,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gr_fail_list(status, code, code_name, call, format, arguments);
    va_end(arguments);
    return status;
}

gr_status gr_fail_memory(const char *call)
{
    return gr_fail(GR_ERR_NO_MEMORY, call, "The process is out of memory.");
}

gr_status gr_last_error(gr_error *error)
{
    if (error)
        *error = last_error;
    return last_error.status;
}

void gr_clear_error(void)
{
    memset(&last_error, 0, sizeof(last_error));
}

void gr_error_save(gr_error *saved)
{
    *saved = last_error;
}

void gr_error_restore(const gr_error *saved)
{
    last_error = *saved;
}

#define NAME_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return #name;
#define TEXT_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return text;

const char *gr_status_name(gr_status status)
{
    switch (status) {
        GR_STATUS_MAP(NAME_CASE)
    }
    return "GR_ERR_?";
}

const char *gr_status_text(gr_status status)
{
    switch (status) {
        GR_STATUS_MAP(TEXT_CASE)
    }
    return "not a gr_status";
}

#undef NAME_CASE
#undef TEXT_CASE

const char *gr_library_version(void)
{
    return GR_VERSION;
}
