/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The list of devices: GR_SOFT_DEVICES sets their number, and CUDA_VISIBLE_DEVICES selects some of
 * them. Without GR_SOFT_DEVICES, CUDA_VISIBLE_DEVICES refers to the machine's GPUs and is ignored:
 * a program that is restricted to GPU 3, or to no GPU, still has its software device.
 */
#include "softcuda/driver/context/drawing_uuid.h"
#include "softcuda/driver/soft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "GPU-", 32 digits and 4 dashes. */
#define UUID_TEXT_SIZE 41

static int all = 1;
static int count = 1;
static int numbers[SOFT_MAX_DEVICES]; /* the numbers of the visible devices */

int soft_device_count(void)
{
    return count;
}

int soft_device_all(void)
{
    return all;
}

int soft_device_number(CUdevice device)
{
    return numbers[device];
}

CUdevice soft_device_of_number(int number)
{
    for (CUdevice device = 0; device < count; device++)
        if (numbers[device] == number)
            return device;
    return CU_DEVICE_INVALID;
}

/* The devices' own UUIDs differ in the last byte. */
static void own_uuid(int number, CUuuid *uuid)
{
    static const char bytes[] = "libgrinterop-sof";
    memcpy(uuid->bytes, bytes, sizeof(uuid->bytes));
    uuid->bytes[sizeof(uuid->bytes) - 1] += (char)number;
}

/*
 * The drawing device has the UUID that Vulkan reports for it, so that programs that match devices
 * by UUID find it.
 */
void soft_device_uuid(int number, CUuuid *uuid)
{
    if (number != SOFT_DRAWING_DEVICE || !soft_drawing_uuid((unsigned char *)uuid->bytes))
        own_uuid(number, uuid);
}

/* ---- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------- */

static void write_uuid(const CUuuid *uuid, char text[UUID_TEXT_SIZE])
{
    size_t used = (size_t)snprintf(text, UUID_TEXT_SIZE, "GPU-");
    for (int i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, UUID_TEXT_SIZE - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                 (unsigned char)uuid->bytes[i]);
}

static bool has_prefix(const CUuuid *uuid, const char *entry, size_t length)
{
    char text[UUID_TEXT_SIZE];
    write_uuid(uuid, text);
    return strncasecmp(text, entry, length) == 0;
}

/*
 * Returns the device whose UUID begins with the entry; -1 if there is no such device, or more than
 * one. The drawing device is found by its own UUID and by the UUID that Vulkan reports for it.
 * Vulkan is queried last, because the query takes time.
 */
static int find_uuid(const char *entry, size_t length)
{
    CUuuid uuid;
    int found = -1;
    if (length <= strlen("GPU-"))
        return -1;
    if (length > UUID_TEXT_SIZE - 1) /* characters after a UUID are ignored */
        length = UUID_TEXT_SIZE - 1;
    for (int number = 0; number < all; number++) {
        own_uuid(number, &uuid);
        if (!has_prefix(&uuid, entry, length))
            continue;
        if (found >= 0)
            return -1;
        found = number;
    }
    if (found >= 0)
        return found;
    soft_device_uuid(SOFT_DRAWING_DEVICE, &uuid);
    return has_prefix(&uuid, entry, length) ? SOFT_DRAWING_DEVICE : -1;
}

static bool is_uuid(const char *entry)
{
    return strncmp(entry, "GPU-", 4) == 0;
}

/* Characters after a number are ignored, as after a UUID. */
static int find_number(const char *entry)
{
    char *end;
    long number = strtol(entry, &end, 10);
    return end != entry && number >= 0 && number < all ? (int)number : -1;
}

/*
 * Selects the devices of a CUDA_VISIBLE_DEVICES list. An invalid entry ends the list, and so does a
 * UUID among numbers or a number among UUIDs.
 */
static CUresult choose(const char *list)
{
    bool by_uuid = is_uuid(list);
    count = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        int number = by_uuid ? find_uuid(list, length) : find_number(list);
        if (number < 0)
            return count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
        SOFT_FAIL_IF(soft_device_of_number(number) != CU_DEVICE_INVALID, CUDA_ERROR_INVALID_DEVICE);
        numbers[count++] = number;
        list += length;
        if (!*list)
            return CUDA_SUCCESS;
    }
}

/* ---- GR_SOFT_DEVICES ------------------------------------------------------------------------- */

/* False if GR_SOFT_DEVICES is unset or invalid. */
static bool read_number_of_devices(void)
{
    const char *text = secure_getenv("GR_SOFT_DEVICES");
    if (!text || !*text)
        return false;
    bool is_number = text[0] >= '1' && text[0] <= '0' + SOFT_MAX_DEVICES && !text[1];
    if (is_number)
        all = text[0] - '0';
    else
        soft_log(SOFT_WARN,
                 "GR_SOFT_DEVICES is \"%.40s\", not a number from 1 to %d: using 1 device", text,
                 SOFT_MAX_DEVICES);
    return is_number;
}

CUresult soft_devices_init(void)
{
    bool asked_for = read_number_of_devices();
    const char *visible = secure_getenv("CUDA_VISIBLE_DEVICES");
    count = all;
    for (int i = 0; i < count; i++)
        numbers[i] = i;
    return asked_for && visible ? choose(visible) : CUDA_SUCCESS;
}
