/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices, for test_soft_devices: what each case finds beside the fixture, which is on the
 * first. On a GPU's driver the cases run where there are two GPUs.
 */
#ifndef GR_TESTS_SOFT_DEVICES_H
#define GR_TESTS_SOFT_DEVICES_H

#include "softcuda/tests/kernels/soft_launch.h"

#define SIZE ((size_t)4096)

/* Of each device: its primary context, a non-blocking stream, and memory that holds DEVICE_BYTE. */
struct two_devices {
    bool there;
    CUdevice device[2];
    CUcontext context[2];
    CUstream stream[2];
    CUdeviceptr memory[2];
};
extern struct two_devices two;

#define DEVICE_BYTE(i) (0x20 + (i))

#define need_two()                                                                                 \
    do {                                                                                           \
        if (!two.there)                                                                            \
            skip("it needs two CUDA devices");                                                     \
    } while (0)

/* A case of the suite with two devices; the first one's context is current. A child begins with
 * two_begin(). */
TCase *add_two_case(Suite *suite, const char *name);
void two_begin(void);

/* Makes the context of a device current. */
void use_device(int i);

/* What the software driver answers; nobody has asked two GPUs yet. */
#define SOFT_GIVES(expected, call)                                                                 \
    do {                                                                                           \
        if (gr_cuda_is_software())                                                                 \
            CU_GIVES(expected, call);                                                              \
    } while (0)

/* All bytes of memory of either device have the value, whatever is current. */
#define assert_memory(memory, size, value) assert_no_difference(memory_differs(memory, size, value))
const char *memory_differs(CUdeviceptr memory, size_t size, int value);

/* Writes them, and waits. */
void set_memory(int i, CUdeviceptr memory, size_t size, int value);

/* Virtual memory of one granule on a device, which no device has access to yet; its size, and a
 * descriptor for it if fd isn't NULL. */
CUdeviceptr virtual_memory(int i, size_t *size, int *fd);
CUmemAccessDesc access_of(int device, CUmemAccess_flags flags);

#endif
