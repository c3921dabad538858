/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/import_handle.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>
#endif

#include "lib/base/cuda_error_text.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"

/* ---- File descriptors ------------------------------------------------------------------------ */

#ifdef _WIN32

gr_status gr_fd_copy(int fd, int *copy)
{
    *copy = fd;
    return GR_OK;
}

void gr_fd_close(int fd)
{
    (void)fd;
}

gr_status gr_fd_check_left(void)
{
    return GR_OK;
}

#else

gr_status gr_fd_copy(int fd, int *copy)
{
    *copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return *copy >= 0 ? GR_OK
                      : gr_fail_errno(errno,
                                      "Cannot duplicate the file descriptor %d, perhaps for lack "
                                      "of file descriptors (ulimit -n)",
                                      fd);
}

void gr_fd_close(int fd)
{
    close(fd);
}

gr_status gr_fd_check_left(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    if (fd < 0)
        return gr_fail_errno(errno,
                             "This process can open no more file descriptors: close some, or "
                             "raise the limit (ulimit -n)");
    close(fd);
    return GR_OK;
}

#endif

/* ---- Rules ----------------------------------------------------------------------------------- */

/* CUDA for Windows does not use file descriptors; there the driver itself refuses them. */
static bool fd_is_open(int fd)
{
#ifdef _WIN32
    return fd >= 0;
#else
    return fd >= 0 && (fcntl(fd, F_GETFD) != -1 || errno != EBADF);
#endif
}

/* Refuses combinations of a Windows handle and its name that the type does not allow. */
static gr_status check_windows_handle(const struct gr_handle_rule *rule,
                                      const struct gr_handle *handle,
                                      const struct gr_handle_import *import)
{
    const bool has_handle = handle->win32_handle, has_name = handle->win32_name;
    static const char one[] = "Exactly one of the two must be set";
    const struct {
        enum gr_handle_form form;
        bool wrong;
        const char *given, *law, *way_out;
    } cases[] = {
        {GR_HANDLE_FD, has_handle || has_name, "a Windows handle or name",
         "This type takes a file descriptor only",
         "Leave win32_handle and win32_name NULL and set fd"},
        {GR_HANDLE_NT, has_handle && has_name, "both win32_handle and win32_name", one,
         "Leave one of them NULL"},
        {GR_HANDLE_NT, !has_handle && !has_name, "neither win32_handle nor win32_name", one,
         "Set the handle, or the name that it was shared under"},
        {GR_HANDLE_KMT, has_name, "a win32_name",
         "A KMT handle has no name, so the name must be NULL",
         "Leave win32_name NULL and set win32_handle"},
        {GR_HANDLE_KMT, !has_handle, "no win32_handle", "The handle must not be NULL",
         "Set the global handle"},
        {GR_HANDLE_NVSCI, has_handle || has_name, "a Windows handle or name",
         "This type takes an NvSci object only", "Leave win32_handle and win32_name NULL"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        GR_REFUSE_IF(cases[i].form == rule->form && cases[i].wrong,
                     "The handle type %s was given %s. %s (CUDA driver API, %s). %s (%s).",
                     rule->name, cases[i].given, cases[i].law, import->driver_call,
                     cases[i].way_out, rule->from);
    return GR_OK;
}

gr_status gr_handle_check(const struct gr_handle_rule *rule, const struct gr_handle *handle,
                          const struct gr_handle_import *import)
{
    GR_REFUSE_IF(rule->form != GR_HANDLE_NVSCI && handle->nvsci,
                 "The handle type %s was given an NvSci object. Only the NvSci type takes one "
                 "(CUDA driver API, %s). Leave %s NULL, or set the NvSci type.",
                 rule->name, import->driver_call, import->nvsci_field);
    /* `fd` is 0 by default, and -1 is an explicit "no descriptor". */
    GR_REFUSE_IF(rule->form != GR_HANDLE_FD && handle->fd > 0,
                 "The handle type %s was given fd %d. Only file descriptor types take a file "
                 "descriptor (CUDA driver API, %s). Set fd to 0 or -1, or set another type.",
                 rule->name, handle->fd, import->driver_call);
    GR_TRY(check_windows_handle(rule, handle, import));
    GR_REFUSE_IF(rule->form == GR_HANDLE_FD && !fd_is_open(handle->fd),
                 "The handle type %s was given fd %d, which is not open in this process. It must "
                 "be a valid descriptor (CUDA driver API, %s). A descriptor that was imported "
                 "before belongs to the driver: export a new descriptor for each import (%s).",
                 rule->name, handle->fd, import->driver_call, rule->from);
    GR_REFUSE_IF(rule->form == GR_HANDLE_NVSCI && !handle->nvsci,
                 "The handle type %s was given no object: %s is NULL. This type needs a valid "
                 "object (CUDA driver API, %s; %s).",
                 rule->name, import->nvsci_field, import->driver_call, rule->from);
    return GR_OK;
}

gr_status gr_handle_unknown(int type, const struct gr_handle_import *import)
{
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The handle type is %d, which does not exist for %s (CUDA driver API, %s). Set "
                   "`type` to the type of the handle. Memory and semaphores have separate "
                   "enumerations with different numbers.",
                   type, import->what, import->driver_call);
}

/* ---- Refused imports ------------------------------------------------------------------------- */

/*
 * On Linux only the error code shows that NvSci is unsupported, because some Linux machines support
 * it.
 */
static bool is_for_other_platform(enum gr_handle_form form)
{
#ifdef _WIN32
    return form == GR_HANDLE_FD || form == GR_HANDLE_NVSCI;
#else
    return form == GR_HANDLE_NT || form == GR_HANDLE_KMT;
#endif
}

/* Whether drivers return this code for an unknown handle or type. */
static bool is_handle_error(CUresult code)
{
    return code == CUDA_ERROR_NOT_SUPPORTED || code == CUDA_ERROR_INVALID_VALUE ||
           code == CUDA_ERROR_INVALID_HANDLE || code == CUDA_ERROR_OPERATING_SYSTEM ||
           code == CUDA_ERROR_UNKNOWN;
}

gr_status gr_handle_refused(const struct gr_handle_rule *rule,
                            const struct gr_handle_import *import, CUresult code, bool foreign)
{
    if (gr_cuda_is_sticky(code) || code == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return gr_fail_cuda(code, import->driver_call,
                            "%s: the %s was not imported, because the CUDA context is broken.",
                            gr_call, import->what);
    GR_TRY(gr_fd_check_left());
    if (code == CUDA_ERROR_NOT_SUPPORTED || foreign ||
        (is_for_other_platform(rule->form) && is_handle_error(code)))
        return gr_fail_code(
            GR_ERR_UNSUPPORTED, GR_DOMAIN_CUDA, (int)code, gr_cuda_error_name(code),
            import->driver_call, "%s: the CUDA driver does not import %s of the type %s here. %s",
            gr_call, import->what, rule->name,
            is_for_other_platform(rule->form) ? "The type belongs to another operating system: "
                                                "export the object with a type of this one."
                                              : rule->usual);
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return gr_fail_cuda(
            code, import->driver_call,
            "%s: the %s of the type %s was not imported: memory or address space ran out. An "
            "object from another GPU causes the same error: compare UUIDs, never indices.",
            gr_call, import->what, rule->name);
    return gr_fail_cuda(code, import->driver_call,
                        "%s: the CUDA driver did not import the %s of the type %s. %s", gr_call,
                        import->what, rule->name, rule->usual);
}
