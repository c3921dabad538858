/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External semaphores, type by type: their description, its rules, who owns the handle, the
 * refusals.
 */
#include "descriptors_semaphore.h"

#include <string.h>

#define IMPORT "cuImportExternalSemaphore"

const struct semaphore_type semaphore_types[SEMAPHORE_TYPES] = {
    {1, "OPAQUE_FD", FORM_FD, KIND_BINARY},
    {2, "OPAQUE_WIN32", FORM_NT, KIND_BINARY},
    {3, "OPAQUE_WIN32_KMT", FORM_KMT, KIND_BINARY},
    {4, "D3D12_FENCE", FORM_NT, KIND_FENCE},
    {5, "D3D11_FENCE", FORM_NT, KIND_FENCE},
    {6, "NVSCISYNC", FORM_NVSCI, KIND_NVSCI},
    {7, "D3D11_KEYED_MUTEX", FORM_NT, KIND_KEYED},
    {8, "D3D11_KEYED_MUTEX_KMT", FORM_KMT, KIND_KEYED},
    {9, "TIMELINE_SEMAPHORE_FD", FORM_FD, KIND_FENCE},
    {10, "TIMELINE_SEMAPHORE_WIN32", FORM_NT, KIND_FENCE},
};

static enum system system_of(const struct semaphore_type *type)
{
    if (type->form == FORM_FD)
        return SYSTEM_FD;
    return type->form == FORM_NVSCI ? SYSTEM_NVSCI : SYSTEM_WINDOWS;
}

gr_semaphore_info semaphore_info(const struct semaphore_type *type)
{
    gr_semaphore_info info = {.type = (CUexternalSemaphoreHandleType)type->number,
                              .fd = type->form == FORM_FD ? fd_make() : -1,
                              .value = type->kind == KIND_FENCE ? 17 : 0};
    if (type->form == FORM_NT || type->form == FORM_KMT)
        info.win32_handle = SOME_HANDLE;
    if (type->form == FORM_NVSCI)
        info.nvscisync = SOME_NVSCI;
    return info;
}

/* ---- What reaches the driver ----------------------------------------------------------------- */

static const char *import_is(const struct recorded *call, const struct semaphore_type *type,
                             const gr_semaphore_info *info)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.type = (CUexternalSemaphoreHandleType)type->number;
    if (type->form == FORM_FD) {
        wanted.handle.fd = info->fd;
    } else if (type->form == FORM_NVSCI) {
        wanted.handle.nvSciSyncObj = info->nvscisync;
    } else {
        wanted.handle.win32.handle = info->win32_handle;
        wanted.handle.win32.name = info->win32_name;
    }
    if (memcmp(&wanted, &call->given.semaphore, sizeof(wanted)) != 0)
        FAIL("the driver was given another description");
    return NULL;
}

static const char *import_and_end(const struct semaphore_type *type, const gr_semaphore_info *info)
{
    gr_error error;
    gr_semaphore *semaphore = gr_semaphore_import(info);
    if (!semaphore) {
        gr_last_error(&error);
        FAIL("refused: %s", error.message);
    }
    PASS_ON(import_is(recorder->nth(IMPORT, 0), type, info));
    REQUIRE(recorder->calls(IMPORT) == 1);
    void *handle = recorder->nth(IMPORT, 0)->handle;
    REQUIRE(gr_semaphore_handle(semaphore) == handle);
    REQUIRE(gr_semaphore_is_timeline(semaphore) == (type->kind == KIND_FENCE));
    gr_semaphore_free(semaphore);
    REQUIRE(recorder->calls("cuDestroyExternalSemaphore") == 1);
    REQUIRE(recorder->nth("cuDestroyExternalSemaphore", 0)->handle == handle);
#ifndef _WIN32
    if (type->form == FORM_FD && fd_is_open(info->fd))
        FAIL("the descriptor was left open");
#endif
    return NULL;
}

static const char *with_handle(const void *row)
{
    gr_semaphore_info info = semaphore_info(row);
    return import_and_end(row, &info);
}

static const char *with_name(const void *row)
{
    gr_semaphore_info info = semaphore_info(row);
    info.win32_handle = NULL;
    info.win32_name = SOME_NAME;
    return import_and_end(row, &info);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static unsigned bit(int number)
{
    return 1u << number;
}

/* Which types a rule is for, as sets of their forms and kinds. */
static const struct rule {
    const char *name;
    unsigned forms, kinds;
    gr_semaphore_info wrong; /* the values that are set; -2 and NULL mean that they are left */
    bool no_handle, no_nvsci;
    const char *cited, *words;
} rules[] = {
    {"fd -1", 1 << FORM_FD, ~0u, {.fd = -1}, false, false, IMPORT, "fd -1"},
    {"fd and handle",
     1 << FORM_FD,
     ~0u,
     {.fd = -2, .win32_handle = SOME_HANDLE},
     false,
     false,
     IMPORT,
     "file descriptor"},
    {"fd for another type", ~(1u << FORM_FD), ~0u, {.fd = 5}, false, false, IMPORT, "fd 5"},
    {"handle and name",
     1 << FORM_NT,
     ~0u,
     {.fd = -2, .win32_name = SOME_NAME},
     false,
     false,
     IMPORT,
     "both"},
    {"neither handle nor name", 1 << FORM_NT, ~0u, {.fd = -2}, true, false, IMPORT, "neither"},
    {"KMT handle and name",
     1 << FORM_KMT,
     ~0u,
     {.fd = -2, .win32_name = SOME_NAME},
     false,
     false,
     IMPORT,
     "win32_name"},
    {"no KMT handle", 1 << FORM_KMT, ~0u, {.fd = -2}, true, false, IMPORT, "no win32_handle"},
    {"no NvSciSync", 1 << FORM_NVSCI, ~0u, {.fd = -2}, false, true, IMPORT, "nvscisync is NULL"},
    {"NvSciSync and handle",
     1 << FORM_NVSCI,
     ~0u,
     {.fd = -2, .win32_handle = SOME_HANDLE},
     false,
     false,
     IMPORT,
     "handle"},
    {"NvSciSync for another type",
     ~(1u << FORM_NVSCI),
     ~0u,
     {.fd = -2, .nvscisync = SOME_NVSCI},
     false,
     false,
     IMPORT,
     "NvSci"},
    {"value of what does not count",
     ~0u,
     ~(1u << KIND_FENCE),
     {.fd = -2, .value = 3},
     false,
     false,
     "cuSignalExternalSemaphoresAsync",
     "value 3"},
    {"type 0",
     ~0u,
     ~0u,
     {.fd = -2, .type = (CUexternalSemaphoreHandleType)0},
     false,
     false,
     IMPORT,
     "type is 0"},
    {"type 11",
     ~0u,
     ~0u,
     {.fd = -2, .type = (CUexternalSemaphoreHandleType)11},
     false,
     false,
     IMPORT,
     "type is 11"},
};

static void spoil(gr_semaphore_info *info, const struct rule *rule)
{
    if (rule->wrong.fd != -2)
        info->fd = rule->wrong.fd;
    if (rule->wrong.win32_handle || rule->no_handle)
        info->win32_handle = rule->wrong.win32_handle;
    if (rule->wrong.win32_name)
        info->win32_name = rule->wrong.win32_name;
    if (rule->wrong.nvscisync || rule->no_nvsci)
        info->nvscisync = rule->wrong.nvscisync;
    if (rule->wrong.value)
        info->value = rule->wrong.value;
    if (strncmp(rule->name, "type ", 5) == 0)
        info->type = rule->wrong.type;
}

struct pair {
    const struct semaphore_type *type;
    const void *other; /* a rule or a refusal */
};

static const char *rule_broken(const void *row)
{
    const struct pair *pair = row;
    const struct rule *rule = pair->other;
    gr_semaphore_info good = semaphore_info(pair->type);
    gr_semaphore_info info = good;
    spoil(&info, rule);
    REQUIRE(!gr_semaphore_import(&info));
    PASS_ON(refused_by_rule(rule->cited, rule->words));
    REQUIRE(recorder->calls(IMPORT) == 0);
    if (good.fd >= 0) {
        REQUIRE(fd_is_open(good.fd));
        fd_end(good.fd);
    }
    return NULL;
}

#ifndef _WIN32
static const char *closed_fd(const void *row)
{
    gr_semaphore_info info = semaphore_info(row);
    fd_end(info.fd);
    REQUIRE(!gr_semaphore_import(&info));
    PASS_ON(refused_by_rule(IMPORT, "not open"));
    REQUIRE(recorder->calls(IMPORT) == 0);
    return NULL;
}
#endif

/* ---- The driver's refusals ------------------------------------------------------------------- */

static const char *import_refused(const void *row)
{
    const struct pair *pair = row;
    const struct refusal *refusal = pair->other;
    gr_semaphore_info info = semaphore_info(pair->type);
    recorder->answer(IMPORT, refusal->code);
    REQUIRE(!gr_semaphore_import(&info));
    PASS_ON(refused_by_driver(class_of_refusal(refusal, system_of(pair->type)), refusal->code,
                              IMPORT, refusal->words));
    PASS_ON(import_is(recorder->nth(IMPORT, 0), pair->type, &info));
    REQUIRE(recorder->calls(IMPORT) == 1);
    REQUIRE(recorder->calls("cuDestroyExternalSemaphore") == 0);
    REQUIRE(info.fd < 0 || fd_is_open(info.fd));
    recorder->reset();
    return import_and_end(pair->type, &info);
}

static void cases_of(const struct semaphore_type *type)
{
    run_case(type->name, "semaphore", with_handle, type);
    if (type->form == FORM_NT)
        run_case(type->name, "name", with_name, type);
    for (size_t i = 0; i < COUNT(rules); i++)
        if ((rules[i].forms & bit(type->form)) && (rules[i].kinds & bit(type->kind)))
            run_case(type->name, rules[i].name, rule_broken, &(struct pair){type, &rules[i]});
#ifndef _WIN32
    if (type->form == FORM_FD)
        run_case(type->name, "closed fd", closed_fd, type);
#endif
    for (size_t i = 0; i < REFUSAL_COUNT; i++)
        run_case(type->name, refusals[i].name, import_refused, &(struct pair){type, &refusals[i]});
}

void semaphore_cases(void)
{
    for (size_t i = 0; i < SEMAPHORE_TYPES; i++)
        cases_of(&semaphore_types[i]);
}
