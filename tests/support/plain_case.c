/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef _WIN32
#define _GNU_SOURCE
#endif
#include "plain_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned cases, failures;

const char *fail_at(const char *file, int line, const char *format, ...)
{
    static char text[2000];
    int length = snprintf(text, sizeof(text), "%s:%d:F:case: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof(text) - (size_t)length, format, arguments);
    va_end(arguments);
    return text;
}

void plain_case(const char *group, const char *name, const char *wrong)
{
    cases++;
    if (wrong) {
        failures++;
        printf("%s [%s, %s]\n", wrong, group, name);
        fflush(stdout);
    }
}

void plain_skip(const char *group, const char *name, const char *reason)
{
    cases++;
    printf("skipped: %s: %s: %s\n", group, name, reason);
}

int plain_verdict(void)
{
    if (cases == 0) {
        printf("no case ran\n");
        return 1;
    }
    printf("%u%%: Checks: %u, Failures: %u, Errors: 0\n", 100 * (cases - failures) / cases, cases,
           failures);
    return failures > 0;
}

/* ---- The driver ------------------------------------------------------------------------------ */

#ifdef _WIN32
#define DRIVER_ENDING ".dll"
#else
#define DRIVER_ENDING ".so"
#endif

static void set_driver(const char *path)
{
#ifdef _WIN32
    _putenv_s("GR_CUDA_DRIVER", path);
#else
    setenv("GR_CUDA_DRIVER", path, 1);
#endif
}

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file;
}

bool plain_driver(const char *program, const char *name)
{
    static const char *const folders[] = {"", "../drivers/.libs/"};
    size_t length = strlen(program);
    while (length > 0 && !strchr("/\\", program[length - 1]))
        length--;
    for (size_t i = 0; i < COUNT(folders); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%.*s%s%s" DRIVER_ENDING, (int)(length ? length : 2),
                 length ? program : "./", folders[i], name);
        if (is_there(path)) {
            set_driver(path);
            return true;
        }
    }
    printf("there is no %s" DRIVER_ENDING " beside the program\n", name);
    return false;
}
