/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Errors and file descriptors for the tests of descriptors. */
#include "descriptors.h"
#include "tests/support/error_class.h"

#include <string.h>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/* A message of this length was truncated. */
#define LONGEST_MESSAGE 718

/* ---- Errors ---------------------------------------------------------------------------------- */

const char *refused_by_rule(const char *cited, const char *words)
{
    gr_error error;
    if ((error = *gr_last_error()).status != GR_ERR_INVALID_VALUE || error.code != 0)
        FAIL("%s %d: %s", gr_status_name(error.status), error.code, error.message);
    if (!strstr(error.message, "CUDA driver API, ") || !strstr(error.message, cited))
        FAIL("the rule of %s is not cited: %s", cited, error.message);
    if (!strstr(error.message, words))
        FAIL("the message does not contain '%s': %s", words, error.message);
    if (strlen(error.message) > LONGEST_MESSAGE)
        FAIL("too long: %s", error.message);
    return NULL;
}

const char *refused_by_driver(gr_status status, CUresult code, const char *call, const char *words)
{
    gr_error error;
    const char *name;
    error = *gr_last_error();
    gr_cuda()->GetErrorName(code, &name);
    if (error.status != status || error.code != (int)code)
        FAIL("%s %d instead of %s %d: %s", gr_status_name(error.status), error.code,
             gr_status_name(status), code, error.message);
    if (strcmp(error.code_name, name) != 0 || strcmp(error.call, call) != 0)
        FAIL("%s by %s instead of %s by %s", error.code_name, error.call, name, call);
    if (!strstr(error.message, words) || strlen(error.message) > LONGEST_MESSAGE)
        FAIL("the message does not contain '%s', or is too long: %s", words, error.message);
    return NULL;
}

const struct refusal refusals[REFUSAL_COUNT] = {
    {CUDA_ERROR_NOT_SUPPORTED, "not supported", true, "not import"},
    {CUDA_ERROR_INVALID_VALUE, "invalid value", true, "not import"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid handle", true, "not import"},
    {CUDA_ERROR_OPERATING_SYSTEM, "operating system", true, "not import"},
    {CUDA_ERROR_UNKNOWN, "unknown", true, "not import"},
    {CUDA_ERROR_OUT_OF_MEMORY, "out of memory", false, "compare UUIDs"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an older error", false, "earlier work"},
};

gr_status class_of_refusal(const struct refusal *refusal, enum system system)
{
#ifdef _WIN32
    bool foreign = system != SYSTEM_WINDOWS;
#else
    bool foreign = system == SYSTEM_WINDOWS;
#endif
    if (refusal->code == CUDA_ERROR_NOT_SUPPORTED || (foreign && refusal->about_handle))
        return GR_ERR_UNSUPPORTED;
    return class_of_code((int)refusal->code);
}

/* ---- File descriptors ------------------------------------------------------------------------ */

#ifdef _WIN32

int fd_make(void)
{
    return 7;
}

void fd_end(int fd)
{
    (void)fd;
}

bool fd_is_open(int fd)
{
    return fd == 7;
}

int fd_count(void)
{
    return 0;
}

bool fd_is_same(int one, int other)
{
    return one == other;
}

#else

/* Returns one end of a pipe, because each pipe has its own inode. */
int fd_make(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    close(ends[1]);
    return ends[0];
}

void fd_end(int fd)
{
    close(fd);
}

bool fd_is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

int fd_count(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fd_is_open(fd);
    return count;
}

bool fd_is_same(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

#endif
