/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The calling thread's last error, and the names of classes and codes. */
#include "lib/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cuda_error_text.h"
#include "lib/base/log.h"

/*
 * Constants copied from the API headers, which may be missing in a build without OpenGL or Vulkan.
 */
enum {
    GL_OUT_OF_MEMORY = 0x0505,
    GL_CONTEXT_LOST = 0x0507,
    EGL_BAD_ALLOC = 0x3003,
    EGL_CONTEXT_LOST = 0x300E,
    VK_ERROR_OUT_OF_HOST_MEMORY = -1,
    VK_ERROR_OUT_OF_DEVICE_MEMORY = -2,
    VK_ERROR_DEVICE_LOST = -4
};

/* The last error is in thread-local memory, because the heap may be exhausted. */
static _Thread_local struct gr_error_record last;
static _Thread_local gr_error shown;
static _Thread_local unsigned attempts;
/* the CUDA function that the program called; NULL: use the name of the failed call */
static _Thread_local const char *programs_call;
static _Thread_local const char *outer; /* gr_call before gr_error_call_begin() */
/* threads of the library are in no public function */
_Thread_local const char *gr_call = "grinterop";

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* The codes that imply a class, besides the sticky errors of CUDA. */
static const struct {
    gr_error_domain domain;
    int code;
    gr_status implied;
} classes[] = {
    {GR_DOMAIN_CUDA, CUDA_ERROR_OUT_OF_MEMORY, GR_ERR_NO_MEMORY},
    {GR_DOMAIN_OPENGL, GL_OUT_OF_MEMORY, GR_ERR_NO_MEMORY},
    {GR_DOMAIN_OPENGL, GL_CONTEXT_LOST, GR_ERR_DEVICE_LOST},
    {GR_DOMAIN_EGL, EGL_BAD_ALLOC, GR_ERR_NO_MEMORY},
    {GR_DOMAIN_EGL, EGL_CONTEXT_LOST, GR_ERR_DEVICE_LOST},
    {GR_DOMAIN_VULKAN, VK_ERROR_OUT_OF_HOST_MEMORY, GR_ERR_NO_MEMORY},
    {GR_DOMAIN_VULKAN, VK_ERROR_OUT_OF_DEVICE_MEMORY, GR_ERR_NO_MEMORY},
    {GR_DOMAIN_VULKAN, VK_ERROR_DEVICE_LOST, GR_ERR_DEVICE_LOST},
    {GR_DOMAIN_ERRNO, ENOMEM, GR_ERR_NO_MEMORY},
};

/*
 * Chooses the class of an error. GR_ERR_NO_DRIVER takes precedence over a class implied by the
 * code.
 */
static gr_status class_of(gr_status status, gr_error_domain domain, int code)
{
    if (status == GR_ERR_NO_DRIVER)
        return status;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (classes[i].domain == domain && classes[i].code == code)
            return classes[i].implied;
    const bool is_sticky = domain == GR_DOMAIN_CUDA && gr_cuda_is_sticky((CUresult)code);
    return is_sticky ? GR_ERR_DEVICE_LOST : status;
}

/*
 * Logs the last error. GR_ERR_NOT_READY and failed attempts are expected, so these are logged at
 * debug level.
 */
static void log_last(void)
{
    const struct gr_error_record *e = &last;
    gr_log_level level = attempts || e->status == GR_ERR_NOT_READY ? GR_LOG_DEBUG : GR_LOG_ERROR;
    if (e->code_name[0])
        gr_log(level, "%s: %s (%s %d)", e->call, e->message, e->code_name, e->code);
    else
        gr_log(level, "%s: %s", e->call, e->message);
}

static void set_call(const char *call)
{
    const bool renamed = programs_call && strncmp(call, "gr_", 3) == 0;
    copy_text(last.call, sizeof(last.call), renamed ? programs_call : call);
}

GR_PRINTF(6, 0)
static gr_status fail_list(gr_status status, gr_error_domain domain, int code,
                           const char *code_name, const char *call, const char *format,
                           va_list arguments)
{
    struct gr_error_record *e = &last;
    e->status = class_of(status, domain, code);
    e->domain = domain;
    e->code = code;
    e->unreceived = false;
    copy_text(e->code_name, sizeof(e->code_name), code_name);
    set_call(call);
    vsnprintf(e->message, sizeof(e->message), format, arguments);
    log_last();
    return e->status;
}

gr_status gr_fail(gr_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status = fail_list(status, GR_DOMAIN_NONE, 0, NULL, gr_call, format, arguments);
    va_end(arguments);
    return status;
}

gr_status gr_fail_code(gr_status status, gr_error_domain domain, int code, const char *code_name,
                       const char *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status = fail_list(status, domain, code, code_name, call, format, arguments);
    va_end(arguments);
    return status;
}

gr_status gr_fail_errno(int code, const char *format, ...)
{
    char message[sizeof(last.message)], number[32];
    const char *name = number;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    snprintf(number, sizeof(number), "errno %d", code);
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
#if __GLIBC_PREREQ(2, 32)
    if (strerrorname_np(code)) /* such as "ENOSPC" */
        name = strerrorname_np(code);
#endif
#endif
    return gr_fail_code(GR_ERR_SYSTEM, GR_DOMAIN_ERRNO, code, name, gr_call, "%.600s: %.100s.",
                        message, strerror(code));
}

gr_status gr_fail_memory(void)
{
    return gr_fail(GR_ERR_NO_MEMORY, "The process is out of memory.");
}

const gr_error *gr_last_error(void)
{
    shown =
        (gr_error){last.status, last.domain, last.code, last.code_name, last.call, last.message};
    return &shown;
}

void gr_clear_error(void)
{
    memset(&last, 0, sizeof(last));
}

void gr_attempt_begin(void)
{
    attempts++;
}

void gr_attempt_end(void)
{
    attempts--;
}

gr_status gr_try(size_t count, gr_status (*way)(void *of, size_t i),
                 bool (*goes_on)(void *of, size_t i, const struct gr_error_record *error), void *of)
{
    struct gr_error_record before, error;
    gr_error_save(&before);
    for (size_t i = 0; i < count; i++) {
        gr_attempt_begin();
        gr_status status = way(of, i);
        gr_attempt_end();
        if (status != GR_OK)
            gr_error_save(&error);
        gr_error_restore(&before);
        if (status == GR_OK)
            return GR_OK;
        if (goes_on && !goes_on(of, i, &error))
            break;
    }
    gr_error_restore(&error);
    log_last();
    return last.status;
}

/* Returns the prefix for the last message, which is `what` and a colon unless it begins so. */
struct prefix {
    const char *name, *colon;
};
static struct prefix prefix_of(const char *what)
{
    const bool is_named = strncmp(last.message, what, strlen(what)) == 0;
    return (struct prefix){is_named ? "" : what, is_named ? "" : ": "};
}

void gr_error_warn(const char *what)
{
    const struct prefix prefix = prefix_of(what);
    gr_log(GR_LOG_WARNING, "%s%s%s", prefix.name, prefix.colon, last.message);
}

void gr_error_show(const char *what)
{
    const struct prefix prefix = prefix_of(what);
    if (!gr_log_is_chosen())
        fprintf(stderr, "grinterop: %s%s%s\n", prefix.name, prefix.colon, last.message);
}

void gr_error_unreceived(const char *what)
{
    gr_error_warn(what);
    if (attempts)
        return;
    last.unreceived = true;
    gr_error_show(what);
}

gr_status gr_error_set_call(void)
{
    set_call(gr_call);
    return last.status;
}

void gr_error_call_begin(const char *call)
{
    outer = gr_call_begin(call);
    programs_call = call;
}

void gr_error_call_end(void)
{
    gr_call_end(&outer);
    programs_call = NULL;
}

const char *gr_error_choose(const char *grinterops, const char *cudas)
{
    return programs_call ? cudas : grinterops;
}

gr_status gr_error_set_class(gr_status status)
{
    last.status = status;
    return status;
}

/*
 * Saves the last error. The texts are copied only if there was an error, which a frame loop does
 * not have.
 */
void gr_error_save(struct gr_error_record *saved)
{
    saved->status = last.status;
    if (last.status != GR_OK)
        *saved = last;
}

void gr_error_restore(const struct gr_error_record *saved)
{
    if (saved->status != GR_OK)
        last = *saved;
    else if (last.status != GR_OK && !last.unreceived)
        gr_clear_error();
}

void gr_error_hide(struct gr_error_record *saved)
{
    gr_error_save(saved);
    if (last.status != GR_OK)
        gr_clear_error();
}

void gr_error_unhide(const struct gr_error_record *saved)
{
    if (!last.unreceived)
        gr_error_restore(saved);
}

#define NAME_CASE(name, value, text)                                                               \
    case name:                                                                                     \
        return #name;
const char *gr_status_name(gr_status status)
{
    switch (status) {
        GR_STATUS_MAP(NAME_CASE)
    }
    return "GR_ERR_?";
}

#undef NAME_CASE

const char *gr_library_version(void)
{
    return GR_LIBRARY_VERSION;
}
