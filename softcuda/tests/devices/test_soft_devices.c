/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Several devices of the software driver: the list that GR_SOFT_DEVICES and CUDA_VISIBLE_DEVICES
 * select, and the separate contexts, streams and used memory of each device.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GROUP("the list of devices", add_two_case)

SOFT_TEST(device_count_is_the_requested_number)
{
    int count = 0;
    CUdevice device = 7;
    CU_READS(count, 3, DeviceGetCount(&count));
    CU_READS(device, 2, DeviceGet(&device, 2));
}

TWO_TEST(devices_have_different_ids)
{
    CUuuid uuid[2];
    char bus[2][32];
    int number[2];
    CUdevice found = -1;
    for (int i = 0; i < 2; i++) {
        CU(DeviceGetUuid(&uuid[i], two.device[i]));
        CU(DeviceGetPCIBusId(bus[i], sizeof(bus[i]), two.device[i]));
        CU_READS(found, two.device[i], DeviceGetByPCIBusId(&found, bus[i]));
        CU_READS(found, two.device[i], DeviceGetByPCIBusId(&found, bus[i] + strlen("0000:")));
        CU(DeviceGetAttribute(&number[i], CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, two.device[i]));
    }
    ck_assert_mem_ne(uuid[0].bytes, uuid[1].bytes, sizeof(uuid[0].bytes));
    ck_assert_str_ne(bus[0], bus[1]);
    if (!gr_cuda_is_software())
        return;
    /* The first device may have the UUID that Vulkan reports. */
    ck_assert_mem_eq(uuid[1].bytes, "libgrinterop-sog", 16);
    ck_assert_str_eq(bus[0], "0000:00:00.0");
    ck_assert_str_eq(bus[1], "0000:00:01.0");
    ck_assert_int_eq(number[1], 1);
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE, DeviceGetByPCIBusId(&found, "0000:00:03.0"));
}

/* Catches: an allocation on one device was counted for the other device. */
SOFT_TEST(allocations_count_for_their_own_device)
{
    size_t before[2], after[2], total[2], all = 0;
    CUdeviceptr memory = 0;
    for (int i = 0; i < 2; i++) {
        use_device(i);
        CU(MemGetInfo(&before[i], &total[i]));
        CU_READS(all, total[i], DeviceTotalMem(&all, two.device[i]));
    }
    CU(MemAlloc(&memory, 3 * SIZE));
    for (int i = 0; i < 2; i++) {
        use_device(i);
        CU(MemGetInfo(&after[i], &total[i]));
    }
    ck_assert_uint_eq(after[0], before[0]);
    ck_assert_uint_eq(after[1], before[1] - 3 * SIZE);
    use_device(0);
    CU(MemFree(memory));
    use_device(1);
    CU(MemGetInfo(&after[1], &total[1]));
    ck_assert_uint_eq(after[1], before[1]);
}

GROUP("contexts of two devices", add_two_case)

TWO_TEST(each_device_has_its_own_contexts)
{
    CUcontext own = NULL;
    CUdevice device = -1;
    ck_assert_ptr_ne(two.context[0], two.context[1]);
    ck_assert_ptr_eq(two.context[0], fx.context);
    use_device(1);
    CU_READS(device, two.device[1], CtxGetDevice(&device));
    CU(CtxCreate(&own, 0, two.device[1]));
    CU_READS(device, two.device[1], CtxGetDevice(&device));
    CU(CtxDestroy(own));
}

SOFT_TEST(primary_contexts_are_independent)
{
    CUcontext again = NULL;
    unsigned flags = 9;
    int active = 9;
    CU_READS(active, 0, DevicePrimaryCtxGetState(2, &flags, &active));
    CU(DevicePrimaryCtxSetFlags(2, CU_CTX_SCHED_SPIN));
    CU_READS(active, 1, DevicePrimaryCtxGetState(two.device[1], &flags, &active));
    ck_assert_uint_eq(flags, 0);
    CU(DevicePrimaryCtxRetain(&again, 2));
    ck_assert_ptr_ne(again, two.context[1]);
    CU_READS(active, 1, DevicePrimaryCtxGetState(2, &flags, &active));
    ck_assert_uint_eq(flags, CU_CTX_SCHED_SPIN);
    CU(DevicePrimaryCtxRelease(2));
    CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, DevicePrimaryCtxRelease(2));
    CU_READS(active, 1, DevicePrimaryCtxGetState(two.device[1], &flags, &active));
}

TWO_TEST(event_record_needs_a_stream_of_the_same_device)
{
    CUcontext context = NULL;
    CUevent event[2];
    float milliseconds;
    for (int i = 0; i < 2; i++) {
        use_device(i);
        CU(EventCreate(&event[i], 0));
        CU(EventRecord(event[i], two.stream[i]));
    }
    CU_READS(context, two.context[0], StreamGetCtx(two.stream[0], &context));
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE, EventRecord(event[0], two.stream[1]));
    CU(StreamWaitEvent(two.stream[1], event[0], 0));
    CU(StreamSynchronize(two.stream[0]));
    CU(EventSynchronize(event[0]));
    CU(StreamSynchronize(two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE, EventElapsedTime(&milliseconds, event[0], event[1]));
}

GROUP("the list of devices", add_two_case)

SOFT_TEST(opengl_draws_on_the_first_device)
{
    unsigned count = 9;
    CUdevice devices[4] = {9, 9, 9, 9};
    CU_READS(count, 1, GLGetDevices(&count, devices, 4, 1 /* CU_GL_DEVICE_LIST_ALL */));
    ck_assert_int_eq(devices[0], 0);
    ck_assert_int_eq(devices[1], 9);
}

/* ---- The environment ------------------------------------------------------------------------- */

/*
 * Prints the result of cuInit and the bus addresses of all devices, in a process with these
 * variables.
 */
static void print_devices(const char *devices, const char *visible)
{
    char bus[32];
    int count = 0;
    if (devices)
        setenv("GR_SOFT_DEVICES", devices, 1);
    else
        unsetenv("GR_SOFT_DEVICES");
    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    if (gr_cuda_load(true)) {
        printf("no devices: %d\n", gr_last_error()->code);
        return;
    }
    ck_assert_int_eq(gr_cuda()->DeviceGetCount(&count), CUDA_SUCCESS);
    printf("devices:");
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(gr_cuda()->DeviceGetPCIBusId(bus, sizeof(bus), i), CUDA_SUCCESS);
        printf(" %.2s", bus + 8);
    }
    printf(".\n");
    fflush(stdout);
}

#define UUID_OF(last) "GPU-6c696267-7269-6e74-6572-6f702d736f" last

static const struct {
    const char *devices;
    const char *visible;
    const char *said;
} environments[] = {
    {NULL, NULL, "devices: 00.\n"},
    {"", NULL, "devices: 00.\n"},
    {"1", NULL, "devices: 00.\n"},
    {"8", NULL, "devices: 00 01 02 03 04 05 06 07.\n"},
    {"9", NULL, "GR_SOFT_DEVICES is \"9\", not a number from 1 to 8: using 1 device\n"},
    {"0", NULL, "GR_SOFT_DEVICES is \"0\", not a number from 1 to 8: using 1 device\n"},
    {"two", NULL, "GR_SOFT_DEVICES is \"two\", not a number from 1 to 8: using 1 device\n"},
    {"22", NULL, "devices: 00.\n"},
    /* Without GR_SOFT_DEVICES there is one device, whichever GPU CUDA_VISIBLE_DEVICES selects. */
    {NULL, "5", "devices: 00.\n"},
    {NULL, "", "devices: 00.\n"},
    {"3", "1", "devices: 01.\n"},
    {"3", "2,0", "devices: 02 00.\n"},
    {"3", "2,0,7,1", "devices: 02 00.\n"},
    {"3", "1,-1,2", "devices: 01.\n"},
    {"3", "", "no devices: 100\n"},
    {"3", "-1", "no devices: 100\n"},
    {"3", "7", "no devices: 100\n"},
    {"3", "0,0", "no devices: 101\n"},
    {"3", "0,2,0", "no devices: 101\n"},
    {"3", " 2 , 01x,+0", "devices: 02 01 00.\n"},
    {"3", "1,,2", "devices: 01.\n"},
    {"3", UUID_OF("67"), "devices: 01.\n"},
    {"3", UUID_OF("68") "," UUID_OF("67"), "devices: 02 01.\n"},
    {"3", "GPU-6c696267", "no devices: 100\n"},
    {"3", UUID_OF("67") "0", "devices: 01.\n"},
    {"3", "GPU-6C696267-7269-6E74-6572-6F702D736F68", "devices: 02.\n"},
    {"3", UUID_OF("67") ",0", "devices: 01.\n"},
    /* device 0's own UUID, which selects it even if it reports the UUID of Vulkan */
    {"3", UUID_OF("66"), "devices: 00.\n"},
    {"3", "GPU-", "no devices: 100\n"},
};

#define ROW "GR_TEST_ROW"

CHILD(environment)
{
    int row = atoi(getenv(ROW));
    print_devices(environments[row].devices, environments[row].visible);
    return 0;
}

SOFT_TEST(environment_selects_devices, sizeof(environments) / sizeof(*environments))
{
    char row[16], said[4096];
    snprintf(row, sizeof(row), "%d", _i);
    setenv(ROW, row, 1);
    int status = child_run("environment", said, sizeof(said));
    ck_assert_msg(status == 0, "row %d ended with 0x%x: %.3500s", _i, (unsigned)status, said);
    ck_assert_msg(strstr(said, environments[_i].said), "row %d said: %s", _i, said);
    const char *complaint = strstr(said, "GR_SOFT_DEVICES is ");
    ck_assert_msg(!complaint || !strstr(complaint + 1, "GR_SOFT_DEVICES is "), "twice: %s", said);
}

/* Hides from the program the device on which OpenGL draws. */
PASSES(opengl_is_hidden)
{
    setenv("CUDA_VISIBLE_DEVICES", "1,2", 1);
    assert_ok(gr_cuda_load(true));
    assert_null(gr_egl_create(NULL), GR_ERR_GL, CUDA_ERROR_NO_DEVICE, "not CUDA device 0");
    return 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* GPU drivers ignore GR_SOFT_DEVICES, and apply CUDA_VISIBLE_DEVICES to their GPUs. */
int main(int argc, char **argv)
{
    const char *driver = getenv("GR_CUDA_DRIVER");
    bool is_child = argc > 1;
    if (driver && strcmp(driver, "soft") == 0 && !is_child) {
        setenv("GR_SOFT_DEVICES", "3", 1);
        unsetenv("CUDA_VISIBLE_DEVICES");
    }
    return run_tests(argc, argv);
}
