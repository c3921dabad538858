/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * External semaphores, type by type: their description for the driver, their rules, who owns the
 * handle, and refusals by the driver.
 */
#include "descriptors_semaphore.h"

#include <string.h>

#define IMPORT "cuImportExternalSemaphore"
#define SIGNAL "cuSignalExternalSemaphoresAsync"

const struct external_type semaphore_types[SEMAPHORE_TYPES] = {
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

static struct description good(const struct external_type *type)
{
    struct description described = describe_handle(type);
    described.value = type->kind == KIND_FENCE ? 17 : 0;
    return described;
}

static gr_semaphore *import(const struct description *described)
{
    const gr_semaphore_desc info =
        GR_INIT(gr_semaphore_desc, .type = (CUexternalSemaphoreHandleType)described->type,
                .fd = described->fd, .win32_handle = described->win32_handle,
                .win32_name = described->win32_name, .nvscisync = described->nvsci,
                .value = described->value);
    return gr_semaphore_from_handle(&info);
}

static bool is_imported(const struct description *described)
{
    return import(described);
}

gr_semaphore *semaphore_of(const struct external_type *type)
{
    struct description described = good(type);
    return import(&described);
}

/* ---- What reaches the driver ----------------------------------------------------------------- */

static const char *import_is(const struct recorded *call, const struct external_type *type,
                             const struct description *info)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.type = (CUexternalSemaphoreHandleType)type->number;
    if (type->form == FORM_FD) {
        wanted.handle.fd = info->fd;
    } else if (type->form == FORM_NVSCI) {
        wanted.handle.nvSciSyncObj = info->nvsci;
    } else {
        wanted.handle.win32.handle = info->win32_handle;
        wanted.handle.win32.name = info->win32_name;
    }
    if (memcmp(&wanted, &call->given.semaphore, sizeof(wanted)) != 0)
        FAIL("the driver received another description");
    return NULL;
}

static const char *import_and_end(const struct external_type *type, const struct description *info)
{
    gr_error error;
    gr_semaphore *semaphore = import(info);
    if (!semaphore) {
        error = *gr_last_error();
        FAIL("refused: %s", error.message);
    }
    PASS_ON(import_is(recorder->nth(IMPORT, 0), type, info));
    REQUIRE(recorder->calls(IMPORT) == 1);
    void *handle = recorder->nth(IMPORT, 0)->handle;
    REQUIRE(gr_semaphore_get_info(semaphore)->external == handle);
    REQUIRE(gr_semaphore_get_info(semaphore)->timeline == (type->kind == KIND_FENCE));
    gr_semaphore_free(semaphore);
    REQUIRE(recorder->calls("cuDestroyExternalSemaphore") == 1);
    REQUIRE(recorder->nth("cuDestroyExternalSemaphore", 0)->handle == handle);
#ifndef _WIN32
    if (type->form == FORM_FD && fd_is_open(info->fd))
        FAIL("the descriptor was left open");
#endif
    return NULL;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static const struct rule rules[] = {
    {"fd and handle", "file descriptor", SET_HANDLE, .wrong = {.win32_handle = SOME_HANDLE},
     .forms = IS_FD},
    {"no NvSciSync", "nvscisync is NULL", SET_NVSCI, .wrong = {.nvsci = NULL}, .forms = IS_NVSCI},
    {"value where it has no meaning", "value 3", SET_VALUE, .wrong = {.value = 3},
     .kinds = ~BIT(KIND_FENCE), .cited = SIGNAL},
    {"type 11", "type is 11", SET_TYPE, .wrong = {.type = 11}},
};

/* ---- The walk -------------------------------------------------------------------------------- */

static const struct subject semaphores = {
    .types = semaphore_types,
    .type_count = SEMAPHORE_TYPES,
    .rules = rules,
    .rule_count = COUNT(rules),
    .import = IMPORT,
    .later = {SIGNAL, "cuDestroyExternalSemaphore"},
    .good = good,
    .is_imported = is_imported,
    .import_is = import_is,
    .import_and_end = import_and_end,
};

void semaphore_cases(void)
{
    walk_types(&semaphores);
}
