/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts without which numbers cannot be compared: the driver, the device and the date.
 */
#define _GNU_SOURCE
#include <time.h>

#include "bench/bench.h"

void bench_describe_machine(const gr_cuda_api *cuda, CUdevice device, struct bench_machine *machine)
{
    int version = 0;
    cuda->DriverGetVersion(&version);
    machine->software = gr_cuda_is_software();
    snprintf(machine->driver, sizeof(machine->driver), "%s, CUDA %d.%d", gr_cuda_driver_path(),
             version / 1000, version % 1000 / 10);
    cuda->DeviceGetName(machine->device, sizeof(machine->device), device);
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(machine->date, sizeof(machine->date), "%Y-%m-%dT%H:%M:%SZ", &utc);
}
