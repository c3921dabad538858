/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reaches the driver: the descriptions of external memory and semaphores, byte by byte, for
 * every type of handle; what is refused before it is called; and what becomes of its own refusals.
 * The driver is one that remembers, so the program runs anywhere, Windows (and Wine) included.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#endif
#include "cuda_symbol.h"
#include "descriptors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct recorder_api *recorder;

static unsigned cases, failures;

void run_case(const char *group, const char *name, const char *(*run)(const void *row),
              const void *row)
{
    recorder->reset();
    gr_clear_error();
    int open_before = fd_count();
    const char *wrong = run(row);
    if (!wrong && fd_count() != open_before)
        wrong = fail_at(__FILE__, __LINE__, "%d descriptors were open before, %d after",
                        open_before, fd_count());
    cases++;
    if (wrong) {
        failures++;
        printf("%s [%s, %s]\n", wrong, group, name);
        fflush(stdout);
    }
}

/* ---- The driver ------------------------------------------------------------------------------ */

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

/* Libtool leaves it in .libs beside the program; else it is in the program's own folder. */
static bool load_recorder(const char *program)
{
#ifdef _WIN32
    static const char file[] = "recorder_driver.dll";
#else
    static const char file[] = "recorder_driver.so";
#endif
    static const char *const folders[] = {"", ".libs/"};
    size_t length = strlen(program);
    while (length > 0 && !strchr("/\\", program[length - 1]))
        length--;
    for (size_t i = 0; i < COUNT(folders); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%.*s%s%s", (int)(length ? length : 2),
                 length ? program : "./", folders[i], file);
        if (is_there(path)) {
            set_driver(path);
            recorder = cuda_symbol("recorder_api", 2000);
            return recorder;
        }
    }
    printf("there is no %s beside the program\n", file);
    return false;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!load_recorder(argv[0])) {
        gr_error error;
        if ((error = *gr_last_error()).status != GR_OK)
            printf("%s\n", error.message);
        return 1;
    }
    memory_cases();
    image_cases();
    semaphore_cases();
    point_cases();
    size_cases();
    printf("%u%%: Checks: %u, Failures: %u, Errors: 0\n", 100 * (cases - failures) / cases, cases,
           failures);
    return failures > 0;
}
