/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "win32_vulkan.h"

#include <string.h>

#include "tests/drivers/follower_driver.h"

#define MOST 64

struct win32_vulkan win32;

#define OF_INSTANCE(instance, name) ((PFN_vk##name)win32.below(instance, "vk" #name))
#define OF_DEVICE(name)             ((PFN_vk##name)device_below(win32.device, "vk" #name))

static VkInstance last_instance;

static PFN_vkVoidFunction device_below(VkDevice device, const char *name)
{
    return OF_INSTANCE(last_instance, GetDeviceProcAddr)(device, name);
}

static const void *chained(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *s = chain;
    while (s && s->sType != type)
        s = s->pNext;
    return s;
}

static VkResult breaks(const char *rule)
{
    win32.broken = rule;
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

/* Both structs for the rights of a handle have the same fields. */
static bool has_rights(const void *chain, VkStructureType type)
{
    const VkExportMemoryWin32HandleInfoKHR *rights = chained(chain, type);
    return rights && !rights->pAttributes && !rights->name && rights->dwAccess == 0x80000001u;
}

/* ---- Properties ------------------------------------------------------------------------------ */

static VkResult VKAPI_CALL list_extensions(VkPhysicalDevice physical, const char *layer,
                                           uint32_t *count, VkExtensionProperties *list)
{
    static const VkExtensionProperties own[] = {
        {VK_KHR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME, 1},
        {VK_KHR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME, 1}};
    uint32_t room = list ? *count - 2 : 0;
    VkResult result = OF_INSTANCE(last_instance,
                                  EnumerateDeviceExtensionProperties)(physical, layer, &room, list);
    if (list)
        memcpy(list + room, own, sizeof(own));
    *count = room + 2;
    return result;
}

static void VKAPI_CALL get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *out)
{
    OF_INSTANCE(last_instance, GetPhysicalDeviceProperties2)(physical, out);
    VkPhysicalDeviceIDProperties *id = (VkPhysicalDeviceIDProperties *)chained(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
    if (id && win32.uuid)
        memcpy(id->deviceUUID, win32.uuid, VK_UUID_SIZE);
    if (id && win32.luid)
        memcpy(id->deviceLUID, win32.luid, VK_LUID_SIZE);
    if (id)
        id->deviceLUIDValid = win32.luid != NULL;
}

static void allow_memory(VkExternalMemoryHandleTypeFlagBits type, VkExternalMemoryProperties *out)
{
    const bool ours = type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;
    out->externalMemoryFeatures = ours ? VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT : 0;
}

static void VKAPI_CALL ask_buffer(VkPhysicalDevice physical,
                                  const VkPhysicalDeviceExternalBufferInfo *info,
                                  VkExternalBufferProperties *out)
{
    (void)physical;
    allow_memory(info->handleType, &out->externalMemoryProperties);
}

/* The image must be dedicated. */
static VkResult VKAPI_CALL ask_image(VkPhysicalDevice physical,
                                     const VkPhysicalDeviceImageFormatInfo2 *info,
                                     VkImageFormatProperties2 *out)
{
    const VkPhysicalDeviceExternalImageFormatInfo *external =
        chained(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
    VkExternalImageFormatProperties *shared = (VkExternalImageFormatProperties *)chained(
        out->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES);
    VkPhysicalDeviceImageFormatInfo2 plain = *info;
    VkImageFormatProperties2 limits = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    plain.pNext = NULL;
    VkResult result = OF_INSTANCE(last_instance, GetPhysicalDeviceImageFormatProperties2)(
        physical, &plain, &limits);
    out->imageFormatProperties = limits.imageFormatProperties;
    if (external && shared) {
        allow_memory(external->handleType, &shared->externalMemoryProperties);
        shared->externalMemoryProperties.externalMemoryFeatures |=
            VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    }
    return result;
}

static void VKAPI_CALL ask_semaphore(VkPhysicalDevice physical,
                                     const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                     VkExternalSemaphoreProperties *out)
{
    (void)physical;
    out->externalSemaphoreFeatures =
        info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
            ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT
            : 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static struct memory {
    VkDeviceMemory memory; /* VK_NULL_HANDLE: the entry is free */
    HANDLE section;        /* NULL after the export */
    void *view;
    bool dedicated;
} memories[MOST];

static struct memory *memory_of(VkDeviceMemory memory)
{
    for (int i = 0; i < MOST; i++)
        if (memories[i].memory == memory)
            return &memories[i];
    return NULL;
}

/* Sections consist of pages of 64 KiB. */
static size_t rounded(VkDeviceSize size)
{
    return ((size_t)size + 0xffff) & ~(size_t)0xffff;
}

static VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                    const VkAllocationCallbacks *memory, VkDeviceMemory *made)
{
    const VkExportMemoryAllocateInfo *export =
        chained(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    if (!export)
        return OF_DEVICE(AllocateMemory)(device, info, memory, made);
    struct memory *m = memory_of(VK_NULL_HANDLE);
    if (!has_rights(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_WIN32_HANDLE_INFO_KHR) ||
        export->handleTypes != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT || !m)
        return breaks("exportable memory has other rights or another type");
    const size_t size = rounded(info->allocationSize);
    *m = (struct memory){
        .dedicated = chained(info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO)};
    m->section =
        CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, (DWORD)size, NULL);
    m->view = m->section ? MapViewOfFile(m->section, FILE_MAP_ALL_ACCESS, 0, 0, size) : NULL;
    const VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = m->view};
    const VkMemoryAllocateInfo below = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .pNext = &import,
                                        .allocationSize = size,
                                        .memoryTypeIndex = info->memoryTypeIndex};
    VkResult result = m->view ? OF_DEVICE(AllocateMemory)(device, &below, memory, &m->memory)
                              : VK_ERROR_OUT_OF_HOST_MEMORY;
    *made = m->memory;
    win32.memories += result == VK_SUCCESS;
    win32.dedicated += result == VK_SUCCESS && m->dedicated;
    return result;
}

static void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                   const VkAllocationCallbacks *callbacks)
{
    struct memory *m = memory ? memory_of(memory) : NULL;
    OF_DEVICE(FreeMemory)(device, memory, callbacks);
    if (!m)
        return;
    UnmapViewOfFile(m->view);
    if (m->section)
        CloseHandle(m->section);
    win32.memories--;
    win32.dedicated -= m->dedicated;
    m->memory = VK_NULL_HANDLE;
}

/* Each memory may be exported only once, and the caller owns the handle. */
static VkResult VKAPI_CALL get_memory(VkDevice device, const VkMemoryGetWin32HandleInfoKHR *info,
                                      HANDLE *handle)
{
    struct memory *m = memory_of(info->memory);
    (void)device;
    if (!m || !m->section || info->handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT)
        return breaks("a memory is exported twice, or by another type");
    *handle = m->section;
    m->section = NULL;
    return VK_SUCCESS;
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static struct semaphore {
    VkSemaphore semaphore; /* VK_NULL_HANDLE: the entry is free */
    bool exported;
} semaphores[MOST];

static struct semaphore *semaphore_of(VkSemaphore semaphore)
{
    for (int i = 0; i < MOST; i++)
        if (semaphores[i].semaphore == semaphore)
            return &semaphores[i];
    return NULL;
}

static void signal_now(void *user, unsigned long long value)
{
    const struct semaphore *s = user;
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = s->semaphore,
                                        .value = value};
    if (OF_DEVICE(SignalSemaphore)(win32.device, &info) != VK_SUCCESS)
        win32.broken = "vkSignalSemaphore failed";
}

static void wait_now(void *user, unsigned long long value)
{
    const struct semaphore *s = user;
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &s->semaphore,
                                      .pValues = (const uint64_t *)&value};
    if (OF_DEVICE(WaitSemaphores)(win32.device, &info, 10000000000u) != VK_SUCCESS)
        win32.broken = "a semaphore was not signalled within 10 s";
}

/* Below, all exported semaphores are timelines. No case submits a binary one. */
static VkResult VKAPI_CALL create_semaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                                            const VkAllocationCallbacks *memory, VkSemaphore *made)
{
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo below = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                         .pNext = &timeline};
    if (!chained(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO))
        return OF_DEVICE(CreateSemaphore)(device, info, memory, made);
    struct semaphore *s = semaphore_of(VK_NULL_HANDLE);
    if (!s || !has_rights(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR))
        return breaks("an exportable semaphore has other rights");
    VkResult result = OF_DEVICE(CreateSemaphore)(device, &below, memory, made);
    if (result == VK_SUCCESS)
        *s = (struct semaphore){.semaphore = *made};
    return result;
}

static void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                         const VkAllocationCallbacks *memory)
{
    struct semaphore *s = semaphore ? semaphore_of(semaphore) : NULL;
    if (s)
        s->semaphore = VK_NULL_HANDLE;
    OF_DEVICE(DestroySemaphore)(device, semaphore, memory);
}

static VkResult VKAPI_CALL get_semaphore(VkDevice device,
                                         const VkSemaphoreGetWin32HandleInfoKHR *info,
                                         HANDLE *handle)
{
    struct semaphore *s = semaphore_of(info->semaphore);
    (void)device;
    if (!s || s->exported || info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT)
        return breaks("a semaphore is exported twice, or by another type");
    *handle = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                 sizeof(struct follower_semaphore), NULL);
    struct follower_semaphore *view =
        *handle ? MapViewOfFile(*handle, FILE_MAP_ALL_ACCESS, 0, 0, sizeof(*view)) : NULL;
    if (!view)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *view = (struct follower_semaphore){.signal = signal_now, .wait = wait_now, .user = s};
    UnmapViewOfFile(view);
    s->exported = true;
    return VK_SUCCESS;
}

/* ---- The functions --------------------------------------------------------------------------- */

struct function {
    const char *name;
    PFN_vkVoidFunction function;
};

static PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name)
{
    static const struct function own[] = {
        {"vkAllocateMemory", (PFN_vkVoidFunction)allocate},
        {"vkCreateSemaphore", (PFN_vkVoidFunction)create_semaphore},
        {"vkDestroySemaphore", (PFN_vkVoidFunction)destroy_semaphore},
        {"vkFreeMemory", (PFN_vkVoidFunction)free_memory},
        {"vkGetMemoryWin32HandleKHR", (PFN_vkVoidFunction)get_memory},
        {"vkGetSemaphoreWin32HandleKHR", (PFN_vkVoidFunction)get_semaphore},
    };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].function;
    return device_below(device, name);
}

PFN_vkVoidFunction VKAPI_CALL win32_vulkan(VkInstance instance, const char *name)
{
    static const struct function own[] = {
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)list_extensions},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)device_function},
        {"vkGetPhysicalDeviceExternalBufferProperties", (PFN_vkVoidFunction)ask_buffer},
        {"vkGetPhysicalDeviceExternalSemaphoreProperties", (PFN_vkVoidFunction)ask_semaphore},
        {"vkGetPhysicalDeviceImageFormatProperties2", (PFN_vkVoidFunction)ask_image},
        {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)get_properties},
    };
    last_instance = instance;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].function;
    return win32.below(instance, name);
}
