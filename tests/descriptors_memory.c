/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External memory, type by type: its description, its rules, who owns its handle, the driver's
 * refusals.
 */
#include "descriptors.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define IMPORT     "cuImportExternalMemory"
#define MAP_BUFFER "cuExternalMemoryGetMappedBuffer"

enum form { FORM_FD, FORM_NT, FORM_KMT, FORM_NVSCI };
enum dedication { MAY, MUST, NEVER };

static const struct type {
    int number; /* of the driver API's enumeration */
    const char *name;
    enum form form;
    enum dedication dedicated;
} types[] = {
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

static enum system system_of(const struct type *type)
{
    if (type->form == FORM_FD)
        return SYSTEM_FD;
    return type->form == FORM_NVSCI ? SYSTEM_NVSCI : SYSTEM_WINDOWS;
}

/* A description that obeys all rules; end() ends its handle, if that is the test's. */
static gr_external_memory_info make(const struct type *type)
{
    gr_external_memory_info info = {.type = (CUexternalMemoryHandleType)type->number,
                                    .fd = type->form == FORM_FD ? fd_make() : -1,
                                    .size = 65536,
                                    .dedicated = type->dedicated == MUST};
    if (type->form == FORM_NT || type->form == FORM_KMT)
        info.win32_handle = SOME_HANDLE;
    if (type->form == FORM_NVSCI)
        info.nvscibuf = SOME_NVSCI;
    return info;
}

static void end(const gr_external_memory_info *info)
{
    if (info->fd >= 0)
        fd_end(info->fd);
}

/* ---- What reaches the driver ----------------------------------------------------------------- */

/* The description by the driver's documentation; a descriptor may be a copy of the caller's. */
static const char *import_is(const struct recorded *call, const struct type *type,
                             const gr_external_memory_info *info)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.type = (CUexternalMemoryHandleType)type->number;
    wanted.size = info->size;
    wanted.flags = info->dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0;
    if (type->form == FORM_FD) {
        wanted.handle.fd = call->given.memory.handle.fd;
        /* Looked at while both are open: one of them is closed by a success or a failure. */
        REQUIRE(wanted.handle.fd >= 0);
        if (fd_is_open(wanted.handle.fd) && fd_is_open(info->fd))
            REQUIRE(fd_is_same(wanted.handle.fd, info->fd));
    } else if (type->form == FORM_NVSCI) {
        wanted.handle.nvSciBufObject = info->nvscibuf;
    } else {
        wanted.handle.win32.handle = info->win32_handle;
        wanted.handle.win32.name = info->win32_name;
    }
    if (memcmp(&wanted, &call->given.memory, sizeof(wanted)) != 0)
        FAIL("the driver was given another description");
    return NULL;
}

static const char *buffer_is(const struct recorded *call, const void *memory, size_t offset,
                             size_t size)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.offset = offset;
    wanted.size = size;
    REQUIRE(call->handle == memory);
    if (memcmp(&wanted, &call->given.buffer, sizeof(wanted)) != 0)
        FAIL("the driver was given another range: %llu bytes at %llu", call->given.buffer.size,
             call->given.buffer.offset);
    return NULL;
}

/* Imports, looks at both descriptions, and ends it; the handle of a file descriptor is used up. */
static const char *import_and_end(const struct type *type, const gr_external_memory_info *info,
                                  size_t size)
{
    gr_error error;
    gr_resource *resource = gr_from_external_memory(info, GR_NONE);
    if (!resource) {
        gr_last_error(&error);
        FAIL("refused: %s", error.message);
    }
    const struct recorded *import = recorder->nth(IMPORT, 0);
    PASS_ON(import_is(import, type, info));
    PASS_ON(buffer_is(recorder->nth(MAP_BUFFER, 0), import->handle, info->part.offset, size));
    REQUIRE(recorder->calls(IMPORT) == 1 && recorder->calls(MAP_BUFFER) == 1);
    REQUIRE(gr_handle(resource) == import->handle);
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

static const char *with_handle(const void *row)
{
    gr_external_memory_info info = make(row);
    return import_and_end(row, &info, 65536);
}

static const char *with_name(const void *row)
{
    gr_external_memory_info info = make(row);
    info.win32_handle = NULL;
    info.win32_name = SOME_NAME;
    return import_and_end(row, &info, 65536);
}

static const char *dedicated(const void *row)
{
    gr_external_memory_info info = make(row);
    info.dedicated = true;
    return import_and_end(row, &info, 65536);
}

static const char *with_fd_zero(const void *row)
{
    gr_external_memory_info info = make(row);
    info.fd = 0;
    return import_and_end(row, &info, 65536);
}

/* Direct3D's resources, always dedicated, begin at 0. */
static const char *part_of_it(const void *row)
{
    const struct type *type = row;
    gr_external_memory_info info = make(type);
    info.part.offset = type->dedicated == MUST ? 0 : 4096;
    info.part.size = 512;
    return import_and_end(type, &info, 512);
}

static const char *rest_of_it(const void *row)
{
    const struct type *type = row;
    gr_external_memory_info info = make(type);
    info.part.offset = type->dedicated == MUST ? 0 : 65535;
    return import_and_end(type, &info, 65536 - info.part.offset);
}

/* Two resources in one import, which ends with the last. */
static const char *same_memory(const void *row)
{
    gr_external_memory_info info = make(row);
    gr_external_part second = {.offset = 1024, .size = 64};
    info.part.size = 1024;
    gr_resource *first = gr_from_external_memory(&info, GR_NONE);
    REQUIRE(first);
    gr_resource *other = gr_from_same_memory(first, &second, GR_NONE);
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

static bool any(const struct type *type)
{
    (void)type;
    return true;
}

static bool takes_fd(const struct type *type)
{
    return type->form == FORM_FD;
}

static bool takes_no_fd(const struct type *type)
{
    return type->form != FORM_FD;
}

static bool takes_name(const struct type *type)
{
    return type->form == FORM_NT;
}

static bool is_kmt(const struct type *type)
{
    return type->form == FORM_KMT;
}

static bool is_windows(const struct type *type)
{
    return type->form == FORM_NT || type->form == FORM_KMT;
}

static bool is_not_windows(const struct type *type)
{
    return !is_windows(type);
}

static bool is_nvsci(const struct type *type)
{
    return type->form == FORM_NVSCI;
}

static bool is_not_nvsci(const struct type *type)
{
    return type->form != FORM_NVSCI;
}

static bool is_always_dedicated(const struct type *type)
{
    return type->dedicated == MUST;
}

static bool is_never_dedicated(const struct type *type)
{
    return type->dedicated == NEVER;
}

static bool may_be_dedicated(const struct type *type)
{
    return type->dedicated == MAY;
}

/*
 * What is wrong is set over a right description with the values of `wrong` whose `set` bit is
 * there.
 */
enum set {
    SET_FD = 1,
    SET_HANDLE = 2,
    SET_NAME = 4,
    SET_NVSCI = 8,
    SET_SIZE = 16,
    SET_DEDICATED = 32,
    SET_PART = 64,
    SET_TYPE = 128,
};

static const struct rule {
    const char *name;
    bool (*applies)(const struct type *type);
    unsigned set;
    gr_external_memory_info wrong;
    const char *cited, *words;
} rules[] = {
    {"no size", any, SET_SIZE, {.size = 0}, IMPORT, "size 0"},
    {"fd -1", takes_fd, SET_FD, {.fd = -1}, IMPORT, "fd -1"},
    {"fd and handle", takes_fd, SET_HANDLE, {.win32_handle = SOME_HANDLE}, IMPORT, "fd"},
    {"fd for another type", takes_no_fd, SET_FD, {.fd = 5}, IMPORT, "fd 5"},
    {"handle and name", takes_name, SET_NAME, {.win32_name = SOME_NAME}, IMPORT, "both"},
    {"neither handle nor name", takes_name, SET_HANDLE, {.fd = 0}, IMPORT, "neither"},
    {"KMT handle and name", is_kmt, SET_NAME, {.win32_name = SOME_NAME}, IMPORT, "win32_name"},
    {"no KMT handle", is_kmt, SET_HANDLE, {.fd = 0}, IMPORT, "no win32_handle"},
    {"name of no Windows type",
     is_not_windows,
     SET_NAME,
     {.win32_name = SOME_NAME},
     IMPORT,
     "name"},
    {"NvSci and handle", is_nvsci, SET_HANDLE, {.win32_handle = SOME_HANDLE}, IMPORT, "handle"},
    {"no NvSciBuf", is_nvsci, SET_NVSCI, {.fd = 0}, IMPORT, "nvscibuf is NULL"},
    {"NvSciBuf for another type",
     is_not_nvsci,
     SET_NVSCI,
     {.nvscibuf = SOME_NVSCI},
     IMPORT,
     "NvSci"},
    {"not dedicated", is_always_dedicated, SET_DEDICATED, {.dedicated = false}, IMPORT, "true"},
    {"dedicated dma_buf",
     is_never_dedicated,
     SET_DEDICATED,
     {.dedicated = true},
     IMPORT,
     "dma_buf"},
    {"dedicated, but not at 0",
     may_be_dedicated,
     SET_DEDICATED | SET_PART,
     {.dedicated = true, .part.offset = 256},
     IMPORT,
     "offset is 256"},
    {"offset at the end", any, SET_PART, {.part.offset = 65536}, MAP_BUFFER, "offset 65536"},
    {"offset beyond", any, SET_PART, {.part.offset = SIZE_MAX}, MAP_BUFFER, "not within"},
    {"size beyond", any, SET_PART, {.part.size = 65537}, MAP_BUFFER, "65537 bytes"},
    {"size that overflows", any, SET_PART, {.part.size = SIZE_MAX}, MAP_BUFFER, "does not end"},
    {"range beyond",
     may_be_dedicated,
     SET_PART,
     {.part = {.offset = 65535, .size = 2}},
     MAP_BUFFER,
     "at offset 65535"},
    {"range that overflows",
     may_be_dedicated,
     SET_PART,
     {.part = {.offset = 4096, .size = SIZE_MAX - 4095}},
     MAP_BUFFER,
     "does not end"},
    {"type 0", any, SET_TYPE, {.fd = 0}, IMPORT, "type is 0"},
    {"type 10", any, SET_TYPE, {.type = (CUexternalMemoryHandleType)10}, IMPORT, "type is 10"},
};

static void spoil(gr_external_memory_info *info, const struct rule *rule)
{
    if (rule->set & SET_FD)
        info->fd = rule->wrong.fd;
    if (rule->set & SET_HANDLE)
        info->win32_handle = rule->wrong.win32_handle;
    if (rule->set & SET_NAME)
        info->win32_name = rule->wrong.win32_name;
    if (rule->set & SET_NVSCI)
        info->nvscibuf = rule->wrong.nvscibuf;
    if (rule->set & SET_SIZE)
        info->size = rule->wrong.size;
    if (rule->set & SET_DEDICATED)
        info->dedicated = rule->wrong.dedicated;
    if (rule->set & SET_PART)
        info->part = rule->wrong.part;
    if (rule->set & SET_TYPE)
        info->type = rule->wrong.type;
}

struct pair {
    const struct type *type;
    const void *other; /* a rule or a refusal */
};

static const char *rule_broken(const void *row)
{
    const struct pair *pair = row;
    const struct rule *rule = pair->other;
    gr_external_memory_info good = make(pair->type);
    gr_external_memory_info info = good;
    spoil(&info, rule);
    REQUIRE(!gr_from_external_memory(&info, GR_NONE));
    PASS_ON(refused_by_rule(rule->cited, rule->words));
    REQUIRE(recorder->calls(IMPORT) == 0 && recorder->calls(MAP_BUFFER) == 0);
    REQUIRE(good.fd < 0 || fd_is_open(good.fd));
    end(&good);
    return NULL;
}

#ifndef _WIN32
static const char *closed_fd(const void *row)
{
    gr_external_memory_info info = make(row);
    fd_end(info.fd);
    REQUIRE(!gr_from_external_memory(&info, GR_NONE));
    PASS_ON(refused_by_rule(IMPORT, "not open"));
    REQUIRE(recorder->calls(IMPORT) == 0);
    return NULL;
}
#endif

/* ---- The driver's refusals ------------------------------------------------------------------- */

/* An older driver does not know the number of dma_bufs. */
static gr_status class_of(const struct type *type, const struct refusal *refusal)
{
    if (type->number == DMABUF_FD && refusal->code == CUDA_ERROR_INVALID_VALUE)
        return GR_ERR_UNSUPPORTED;
    return class_of_refusal(refusal, system_of(type));
}

/* The handle stays the caller's, so that a second try can take it. */
static const char *import_refused(const void *row)
{
    const struct pair *pair = row;
    const struct refusal *refusal = pair->other;
    gr_external_memory_info info = make(pair->type);
    recorder->answer(IMPORT, refusal->code);
    REQUIRE(!gr_from_external_memory(&info, GR_NONE));
    PASS_ON(
        refused_by_driver(class_of(pair->type, refusal), refusal->code, IMPORT, refusal->words));
    PASS_ON(import_is(recorder->nth(IMPORT, 0), pair->type, &info));
    REQUIRE(recorder->calls(IMPORT) == 1 && recorder->calls(MAP_BUFFER) == 0);
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 0);
    REQUIRE(info.fd < 0 || fd_is_open(info.fd));
    recorder->reset();
    return import_and_end(pair->type, &info, 65536);
}

/* The import is taken back, and the handle is the caller's here too. */
static const char *mapping_refused(const void *row)
{
    const struct type *type = row;
    gr_external_memory_info info = make(type);
    recorder->answer(MAP_BUFFER, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!gr_from_external_memory(&info, GR_NONE));
    PASS_ON(refused_by_driver(GR_ERR_CUDA, CUDA_ERROR_INVALID_VALUE, MAP_BUFFER, "mapped"));
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 1);
    if (info.fd >= 0 && !fd_is_open(info.fd))
        FAIL("the descriptor is closed, though the call failed");
    recorder->reset();
    return import_and_end(type, &info, 65536);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void cases_of(const struct type *type)
{
    run_case(type->name, "handle", with_handle, type);
    run_case(type->name, "part", part_of_it, type);
    run_case(type->name, "the rest", rest_of_it, type);
    run_case(type->name, "same memory", same_memory, type);
    if (takes_name(type))
        run_case(type->name, "name", with_name, type);
    if (type->dedicated == MAY)
        run_case(type->name, "dedicated", dedicated, type);
    if (takes_no_fd(type))
        run_case(type->name, "fd 0", with_fd_zero, type);
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].applies(type))
            run_case(type->name, rules[i].name, rule_broken, &(struct pair){type, &rules[i]});
#ifndef _WIN32
    if (takes_fd(type))
        run_case(type->name, "closed fd", closed_fd, type);
#endif
    for (size_t i = 0; i < REFUSAL_COUNT; i++)
        run_case(type->name, refusals[i].name, import_refused, &(struct pair){type, &refusals[i]});
    run_case(type->name, "mapping refused", mapping_refused, type);
}

void memory_cases(void)
{
    for (size_t i = 0; i < COUNT(types); i++)
        cases_of(&types[i]);
}
