/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_vk_bytes. */
#ifndef GR_TESTS_VK_BYTES_H
#define GR_TESTS_VK_BYTES_H

#include <grinterop/cuda.h>
#include <grinterop/driver.h>
#include <grinterop/vk.h>

#include "tests/support/plain_case.h"

extern const gr_vk_headless_info *headless;
extern const gr_cuda_api *cuda;
extern CUstream stream;

/* Fails the case with the message of grinterop. */
#define SUCCEEDS(condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL("not so: %s: %s", #condition, gr_last_error()->message);                          \
    } while (0)

/* Describes the headless device. */
gr_vk_device_desc describe_device(unsigned transports);

/* CUDA writes, Vulkan draws, and CUDA reads: buffers and images of the device. */
const char *draw_all(gr_vk_device *device);

/* ---- vk_win32.c ------------------------------------------------------------------------------ */

#ifdef _WIN32
/* Loads the follower driver with the UUID of the Vulkan device; false after printing a reason. */
bool begin_driver(const char *program);

/* The cases of Windows handles. */
void handle_cases(void);
#else
static inline bool begin_driver(const char *program)
{
    return program;
}

static inline void handle_cases(void)
{
}
#endif

#endif
