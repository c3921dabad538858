/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The software CUDA driver's log: lines on stderr. GR_LOG=debug enables debug lines. */
#include "softcuda/driver/soft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static bool debug;

static void read_environment(void)
{
    const char *wanted = secure_getenv("GR_LOG");
    debug = wanted && strcmp(wanted, "debug") == 0;
}

void soft_log(enum soft_log_level level, const char *format, ...)
{
    pthread_once(&read_once, read_environment);
    if (level == SOFT_DEBUG && !debug)
        return;

    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "grinterop software CUDA driver: %s\n", line);
}

CUresult soft_unsupported(int *logged, const char *what)
{
    if (!__atomic_exchange_n(logged, 1, __ATOMIC_RELAXED))
        soft_log(SOFT_WARN, "%s is not implemented", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}
