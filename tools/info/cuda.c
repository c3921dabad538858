/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA driver selected by GR_CUDA_DRIVER, its devices, and peer access between them. */
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/driver_outside.h"
#include "lib/base/uuid_text.h"
#include "tools/info/finding.h"

enum { MIB = 1 << 20, MOST_DEVICES = 64 };

/* The software driver has its own id, so that a report on both drivers has no duplicates. */
static const char *driver_id(void)
{
    const char *wanted = getenv("GR_CUDA_DRIVER");
    return wanted && strcmp(wanted, "soft") == 0 ? "cuda/software" : "cuda/driver";
}

static void say_driver(const struct gr_driver_api *cu, int count)
{
    int version = 0;
    cu->DriverGetVersion(&version);
    const char *name = gr_cuda_is_software() ? "the software driver" : gr_cuda_driver_path();
    say(driver_id(), count ? MARK_GOOD : MARK_BAD,
        text_of("%s of CUDA %d.%d, %d %s", name, version / 1000, version % 1000 / 10, count,
                count == 1 ? "device" : "devices"),
        "%s%s", gr_cuda_driver_path(),
        count ? ""
              : " starts, but shows no device: check CUDA_VISIBLE_DEVICES, which may hide all of "
                "them.");
    say_fact("file", "%s", gr_cuda_driver_path());
    say_fact("version", "%d.%d", version / 1000, version % 1000 / 10);
    say_fact("software", "%s", gr_cuda_is_software() ? "yes" : "no");
    say_fact("devices", "%d", count);
}

static int attribute(const struct gr_driver_api *cu, CUdevice_attribute which, CUdevice device)
{
    int value = 0;
    cu->DeviceGetAttribute(&value, which, device);
    return value;
}

static void say_device(const struct gr_driver_api *cu, CUdevice device, int number)
{
    char name[100] = "?", text[GR_UUID_TEXT_SIZE];
    CUuuid uuid = {{0}};
    size_t bytes = 0;
    bool closed =
        attribute(cu, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device) == CU_COMPUTEMODE_PROHIBITED;
    cu->DeviceGetName(name, sizeof(name), device);
    cu->DeviceGetUuid(&uuid, device);
    cu->DeviceTotalMem(&bytes, device);
    gr_uuid_text((const unsigned char *)uuid.bytes, text);
    say(text_of("cuda/device/%d", number), closed ? MARK_BAD : MARK_GOOD,
        text_of("CUDA device %d: %s", number, name), "%s",
        closed
            ? "Its compute mode prohibits CUDA programs: run nvidia-smi -c 0 as root to reset it."
            : "");
    say_fact("name", "%s", name);
    say_fact("uuid", "%s", text);
    say_fact("memory_mib", "%zu", bytes / MIB);
    say_fact("compute_capability", "%d.%d",
             attribute(cu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
             attribute(cu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    say_fact("pci", "%04x:%02x:%02x", attribute(cu, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device),
             attribute(cu, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device),
             attribute(cu, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, device));
}

static void say_peer(const struct gr_driver_api *cu, const CUdevice devices[], int from, int to)
{
    int reaches = 0;
    cu->DeviceCanAccessPeer(&reaches, devices[from], devices[to]);
    say(text_of("cuda/peer/%d/%d", from, to), MARK_NOTE | DETAIL,
        text_of("CUDA device %d %s device %d", from,
                reaches ? "can access the memory of" : "cannot access the memory of", to),
        "%s",
        reaches ? "" : "nvidia-smi topo -p2p r shows why; GR_TRANSPORT_COPY works without it.");
    say_fact("reaches", "%s", reaches ? "yes" : "no");
}

void find_cuda(const struct find *find)
{
    CUdevice devices[MOST_DEVICES] = {0};
    int count = 0;
    (void)find;
    const struct gr_driver_api *cu = gr_driver_functions();
    if (!cu) {
        say_error(driver_id(), "no CUDA driver");
        return;
    }
    cu->DeviceGetCount(&count);
    say_driver(cu, count);
    count = count < MOST_DEVICES ? count : MOST_DEVICES;
    for (int i = 0; i < count; i++) {
        cu->DeviceGet(&devices[i], i);
        say_device(cu, devices[i], i);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                say_peer(cu, devices, i, j);
}

void find_software(const struct find *find)
{
    (void)find;
    if (gr_driver_functions())
        say(driver_id(), MARK_GOOD | DETAIL, "the software driver is available as well",
            "Programs select it by GR_CUDA_DRIVER=soft (%s).", gr_cuda_driver_path());
    else
        say(driver_id(), MARK_NOTE | DETAIL, "no software driver", "%s", gr_last_error()->message);
}
