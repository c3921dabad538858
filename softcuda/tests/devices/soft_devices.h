/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of test_soft_devices: two devices. The fixture of support.h uses the first device. On
 * a GPU driver the cases need two GPUs.
 */
#ifndef GR_TESTS_SOFT_DEVICES_H
#define GR_TESTS_SOFT_DEVICES_H

#include "softcuda/tests/kernels/soft_launch.h"

#define SIZE ((size_t)4096)

/*
 * Each device has its primary context, a non-blocking stream, and memory filled with DEVICE_BYTE.
 */
struct two_devices {
    bool there;
    CUdevice device[2];
    CUcontext context[2];
    CUstream stream[2];
    CUdeviceptr memory[2];
};
extern struct two_devices two;

#define DEVICE_BYTE(i) (0x20 + (i))

#define TWO_TEST(...) TEST_UNLESS(two.there ? NULL : "it needs two CUDA devices", __VA_ARGS__)

/*
 * Adds a case with two devices; the context of the first device is current. A child calls
 * two_begin() first.
 */
TCase *add_two_case(Suite *suite, const char *name);
void two_begin(void);

/* Makes the context of a device current. */
void use_device(int i);

/*
 * Checks the result of the call on the software driver only. The result was not compared with that
 * of two GPUs.
 */
#define SOFT_GIVES(expected, call)                                                                 \
    do {                                                                                           \
        if (gr_cuda_is_software())                                                                 \
            CU_GIVES(expected, call);                                                              \
    } while (0)

/* Checks that all bytes of memory of either device have the value, whichever context is current. */
#define assert_memory(memory, size, value) assert_no_difference(memory_differs(memory, size, value))
const char *memory_differs(CUdeviceptr memory, size_t size, int value);

/* Fills the memory with the value and waits. */
void set_memory(int i, CUdeviceptr memory, size_t size, int value);

/*
 * Allocates virtual memory of one granule on a device. No device has access to it yet. Also returns
 * its size, and a descriptor for it unless fd is NULL.
 */
CUdeviceptr virtual_memory(int i, size_t *size, int *fd);
CUmemAccessDesc access_of(int device, CUmemAccess_flags flags);

#endif
