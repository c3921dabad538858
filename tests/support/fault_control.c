/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loads the fault driver, which fails on demand, into a test program before grinterop loads the
 * same file.
 */
#define _GNU_SOURCE
#include "tests/drivers/fault_driver.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct fault_api *fault;

/*
 * Finds fault_driver.so: in a bundle it is next to the program, in a build folder libtool puts it
 * into tests/drivers.
 */
static bool find_beside_program(char *path, size_t size)
{
    static const char *const folders[] = {"", "../drivers/.libs/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0)
        return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        int written = snprintf(path, size, "%s/%sfault_driver.so", program, folders[i]);
        if (written > 0 && (size_t)written < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

void fault_control_start(void)
{
    char path[PATH_MAX + 32];
    const char *target = getenv("GR_CUDA_DRIVER");
    if (!find_beside_program(path, sizeof(path))) {
        fprintf(stderr, "fault_driver.so is not beside the program\n");
        exit(1);
    }
    /* In a child process both variables are already set, by the program that started it. */
    if (!getenv("FAULT_DRIVER_TARGET"))
        setenv("FAULT_DRIVER_TARGET", target && *target ? target : "libcuda.so.1", 1);
    setenv("GR_CUDA_DRIVER", path, 1);
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fault = driver ? dlsym(driver, "fault_api") : NULL;
    if (!fault) {
        const char *reason = dlerror();
        fprintf(stderr, "%s: %s\n", path, reason ? reason : "no symbol fault_api");
        exit(1);
    }
}
