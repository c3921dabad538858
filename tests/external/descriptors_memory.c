/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * External memory, type by type: its description for the driver, its rules, who owns the handle,
 * and refusals by the driver.
 */
#include "descriptors.h"

#include <stdint.h>
#include <string.h>

#define IMPORT     "cuImportExternalMemory"
#define MAP_BUFFER "cuExternalMemoryGetMappedBuffer"

/* Whether memory of a type is dedicated to one image or buffer. */
enum { MAY, MUST, NEVER };

static const struct external_type types[] = {
    {1, "OPAQUE_FD", FORM_FD, MAY},
    {2, "OPAQUE_WIN32", FORM_NT, MAY},
    {3, "OPAQUE_WIN32_KMT", FORM_KMT, MAY},
    {4, "D3D12_HEAP", FORM_NT, MAY},
    {5, "D3D12_RESOURCE", FORM_NT, MUST},
    {6, "D3D11_RESOURCE", FORM_NT, MUST},
    {7, "D3D11_RESOURCE_KMT", FORM_KMT, MUST},
    {8, "NVSCIBUF", FORM_NVSCI, MAY},
    {DMABUF_FD, "DMABUF_FD", FORM_FD, NEVER},
};

static struct description good(const struct external_type *type)
{
    struct description described = describe_handle(type);
    described.size = 65536;
    described.dedicated = type->kind == MUST;
    return described;
}

static gr_resource *from_memory(const struct description *described)
{
    gr_external_part_desc part = described->part;
    part.struct_size = sizeof(part);
    const gr_external_memory_desc info =
        GR_INIT(gr_external_memory_desc, .type = (CUexternalMemoryHandleType)described->type,
                .fd = described->fd, .win32_handle = described->win32_handle,
                .win32_name = described->win32_name, .nvscibuf = described->nvsci,
                .size = described->size, .dedicated = described->dedicated, .part = &part);
    return gr_from_external_memory(&info, GR_READ_WRITE);
}

static bool is_imported(const struct description *described)
{
    return from_memory(described);
}

/* ---- What reaches the driver ----------------------------------------------------------------- */

/*
 * Checks the description according to the documentation of the driver. A descriptor may be a
 * duplicate of that of the caller.
 */
static const char *import_is(const struct recorded *call, const struct external_type *type,
                             const struct description *info)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.type = (CUexternalMemoryHandleType)type->number;
    wanted.size = info->size;
    wanted.flags = info->dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0;
    if (type->form == FORM_FD) {
        wanted.handle.fd = call->given.memory.handle.fd;
        /*
         * The descriptors are compared while both are open: after the call one of them is closed.
         */
        REQUIRE(wanted.handle.fd >= 0);
        if (fd_is_open(wanted.handle.fd) && fd_is_open(info->fd))
            REQUIRE(fd_is_same(wanted.handle.fd, info->fd));
    } else if (type->form == FORM_NVSCI) {
        wanted.handle.nvSciBufObject = info->nvsci;
    } else {
        wanted.handle.win32.handle = info->win32_handle;
        wanted.handle.win32.name = info->win32_name;
    }
    if (memcmp(&wanted, &call->given.memory, sizeof(wanted)) != 0)
        FAIL("the driver received another description");
    return NULL;
}

static const char *buffer_is(const struct recorded *call, const void *imported, size_t offset,
                             size_t size)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.offset = offset;
    wanted.size = size;
    REQUIRE(call->handle == imported);
    if (memcmp(&wanted, &call->given.buffer, sizeof(wanted)) != 0)
        FAIL("the driver received another range: %llu bytes at %llu", call->given.buffer.size,
             call->given.buffer.offset);
    return NULL;
}

/*
 * Imports, checks both descriptions, and ends the import. After the import the caller no longer
 * owns a file descriptor.
 */
static const char *import_and_end(const struct external_type *type, const struct description *info)
{
    const size_t size = info->part.size ? info->part.size : info->size - info->part.offset;
    gr_error error;
    gr_resource *resource = from_memory(info);
    if (!resource) {
        error = *gr_last_error();
        FAIL("refused: %s", error.message);
    }
    const struct recorded *import = recorder->nth(IMPORT, 0);
    PASS_ON(import_is(import, type, info));
    PASS_ON(buffer_is(recorder->nth(MAP_BUFFER, 0), import->handle, info->part.offset, size));
    REQUIRE(recorder->calls(IMPORT) == 1 && recorder->calls(MAP_BUFFER) == 1);
    REQUIRE(gr_resource_get_info(resource)->external_memory == import->handle);
    int drivers_fd = import->given.memory.handle.fd;
    gr_resource_free(resource);
    REQUIRE(recorder->calls("cuMemFree") == 1);
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 1);
    REQUIRE(recorder->nth("cuDestroyExternalMemory", 0)->handle == import->handle);
#ifndef _WIN32
    if (type->form == FORM_FD && (fd_is_open(info->fd) || fd_is_open(drivers_fd)))
        FAIL("a descriptor was left open");
#else
    (void)drivers_fd;
#endif
    return NULL;
}

static const char *dedicated(const void *row)
{
    struct description info = good(row);
    info.dedicated = true;
    return import_and_end(row, &info);
}

static const char *with_fd_zero(const void *row)
{
    struct description info = good(row);
    info.fd = 0;
    return import_and_end(row, &info);
}

/* Direct3D resources are always dedicated and begin at offset 0. */
static const char *part_of_it(const void *row)
{
    const struct external_type *type = row;
    struct description info = good(type);
    info.part.offset = type->kind == MUST ? 0 : 4096;
    info.part.size = 512;
    return import_and_end(type, &info);
}

static const char *rest_of_it(const void *row)
{
    const struct external_type *type = row;
    struct description info = good(type);
    info.part.offset = type->kind == MUST ? 0 : 65535;
    return import_and_end(type, &info);
}

/* Two resources use one import, which ends with the last of them. */
static const char *same_memory(const void *row)
{
    struct description info = good(row);
    gr_external_part_desc second = GR_INIT(gr_external_part_desc, .offset = 1024, .size = 64);
    info.part.size = 1024;
    gr_resource *first = from_memory(&info);
    REQUIRE(first);
    gr_resource *other = gr_from_same_memory(first, &second, GR_READ_WRITE);
    if (info.dedicated) {
        REQUIRE(!other && recorder->calls(MAP_BUFFER) == 1);
        gr_resource_free(first);
        return NULL;
    }
    REQUIRE(other && recorder->calls(IMPORT) == 1);
    PASS_ON(buffer_is(recorder->nth(MAP_BUFFER, 1), recorder->nth(IMPORT, 0)->handle, 1024, 64));
    gr_resource_free(first);
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 0);
    gr_resource_free(other);
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 1);
    return NULL;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

#define MAY_BE    BIT(MAY)
#define IS_ALWAYS BIT(MUST)
#define IS_NEVER  BIT(NEVER)

static const struct rule rules[] = {
    {"no size", "size 0", SET_SIZE, .wrong = {.size = 0}},
    {"fd and handle", "fd", SET_HANDLE, .wrong = {.win32_handle = SOME_HANDLE}, .forms = IS_FD},
    {"name of no Windows type", "name", SET_NAME, .wrong = {.win32_name = SOME_NAME},
     .forms = IS_FD | IS_NVSCI},
    {"no NvSciBuf", "nvscibuf is NULL", SET_NVSCI, .wrong = {.nvsci = NULL}, .forms = IS_NVSCI},
    {"not dedicated", "true", SET_DEDICATED, .wrong = {.dedicated = false}, .kinds = IS_ALWAYS},
    {"dedicated dma_buf", "dma_buf", SET_DEDICATED, .wrong = {.dedicated = true},
     .kinds = IS_NEVER},
    {"dedicated, but not at 0", "offset is 256", SET_DEDICATED | SET_PART,
     .wrong = {.dedicated = true, .part.offset = 256}, .kinds = MAY_BE},
    {"offset at the end", "offset 65536", SET_PART, .wrong = {.part.offset = 65536},
     .cited = MAP_BUFFER},
    {"offset beyond", "not within", SET_PART, .wrong = {.part.offset = SIZE_MAX},
     .cited = MAP_BUFFER},
    {"size beyond", "65537 bytes", SET_PART, .wrong = {.part.size = 65537}, .cited = MAP_BUFFER},
    {"size that overflows", "does not end", SET_PART, .wrong = {.part.size = SIZE_MAX},
     .cited = MAP_BUFFER},
    {"range beyond", "at offset 65535", SET_PART, .wrong = {.part = {.offset = 65535, .size = 2}},
     .kinds = MAY_BE, .cited = MAP_BUFFER},
    {"range that overflows", "does not end", SET_PART,
     .wrong = {.part = {.offset = 4096, .size = SIZE_MAX - 4095}}, .kinds = MAY_BE,
     .cited = MAP_BUFFER},
    {"type 10", "type is 10", SET_TYPE, .wrong = {.type = 10}},
};

/* ---- Refusals by the driver ------------------------------------------------------------------ */

/* The refusal of an older driver, which does not support the type number of dma_bufs. */
static gr_status class_of(const struct external_type *type, const struct refusal *refusal)
{
    if (type->number == DMABUF_FD && refusal->code == CUDA_ERROR_INVALID_VALUE)
        return GR_ERR_UNSUPPORTED;
    return class_of_refusal(refusal, system_of(type));
}

/* The import is undone, and the caller keeps the handle. */
static const char *mapping_refused(const void *row)
{
    const struct external_type *type = row;
    struct description info = good(type);
    recorder->answer(MAP_BUFFER, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!is_imported(&info));
    PASS_ON(refused_by_driver(GR_ERR_CUDA, CUDA_ERROR_INVALID_VALUE, MAP_BUFFER, "mapped"));
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 1);
    if (info.fd >= 0 && !fd_is_open(info.fd))
        FAIL("the descriptor is closed, though the call failed");
    recorder->reset();
    return import_and_end(type, &info);
}

/* ---- The walk -------------------------------------------------------------------------------- */

static const struct subject memory = {
    .types = types,
    .type_count = COUNT(types),
    .rules = rules,
    .rule_count = COUNT(rules),
    .import = IMPORT,
    .later = {MAP_BUFFER, "cuDestroyExternalMemory"},
    .good = good,
    .is_imported = is_imported,
    .import_is = import_is,
    .import_and_end = import_and_end,
    .class_of = class_of,
};

void memory_cases(void)
{
    walk_types(&memory);
    for (size_t i = 0; i < COUNT(types); i++) {
        const struct external_type *type = &types[i];
        run_case(type->name, "a part is imported", part_of_it, type);
        run_case(type->name, "a part without a size extends to the end", rest_of_it, type);
        run_case(type->name, "two resources share an import", same_memory, type);
        run_case(type->name, "a failed mapping ends the import", mapping_refused, type);
        if (type->kind == MAY)
            run_case(type->name, "dedicated memory is imported", dedicated, type);
        if (type->form != FORM_FD)
            run_case(type->name, "fd 0 is imported", with_fd_zero, type);
    }
}
