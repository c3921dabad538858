/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The properties that imports of memory and of semaphores share, type by type: handles and names,
 * their rules, who owns them, and refusals by the driver.
 */
#include "descriptors.h"

enum system system_of(const struct external_type *type)
{
    if (type->form == FORM_FD)
        return SYSTEM_FD;
    return type->form == FORM_NVSCI ? SYSTEM_NVSCI : SYSTEM_WINDOWS;
}

struct description describe_handle(const struct external_type *type)
{
    struct description described = {.type = type->number, .fd = -1};
    if (type->form == FORM_FD)
        described.fd = fd_make();
    else if (type->form == FORM_NVSCI)
        described.nvsci = SOME_NVSCI;
    else
        described.win32_handle = SOME_HANDLE;
    return described;
}

/* One case: a type, and the rule that is broken or the refusal, if any. */
struct step {
    const struct subject *subject;
    const struct external_type *type;
    const struct rule *rule;
    const struct refusal *refusal;
};

/* ---- What reaches the driver ----------------------------------------------------------------- */

static const char *with_handle(const void *row)
{
    const struct step *step = row;
    struct description described = step->subject->good(step->type);
    return step->subject->import_and_end(step->type, &described);
}

static const char *with_name(const void *row)
{
    const struct step *step = row;
    struct description described = step->subject->good(step->type);
    described.win32_handle = NULL;
    described.win32_name = SOME_NAME;
    return step->subject->import_and_end(step->type, &described);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

#define IS_NT  BIT(FORM_NT)
#define IS_KMT BIT(FORM_KMT)

static const struct rule common_rules[] = {
    {"fd -1", "fd -1", SET_FD, .wrong = {.fd = -1}, .forms = IS_FD},
    {"fd for another type", "fd 5", SET_FD, .wrong = {.fd = 5}, .forms = ~IS_FD},
    {"handle and name", "both", SET_NAME, .wrong = {.win32_name = SOME_NAME}, .forms = IS_NT},
    {"neither handle nor name", "neither", SET_HANDLE, .wrong = {.fd = 0}, .forms = IS_NT},
    {"KMT handle and name", "win32_name", SET_NAME, .wrong = {.win32_name = SOME_NAME},
     .forms = IS_KMT},
    {"no KMT handle", "no win32_handle", SET_HANDLE, .wrong = {.fd = 0}, .forms = IS_KMT},
    {"NvSci and handle", "handle", SET_HANDLE, .wrong = {.win32_handle = SOME_HANDLE},
     .forms = IS_NVSCI},
    {"NvSci for another type", "NvSci", SET_NVSCI, .wrong = {.nvsci = SOME_NVSCI},
     .forms = ~IS_NVSCI},
    {"type 0", "type is 0", SET_TYPE, .wrong = {.type = 0}},
};

static void spoil(struct description *described, const struct rule *rule)
{
    if (rule->set & SET_FD)
        described->fd = rule->wrong.fd;
    if (rule->set & SET_HANDLE)
        described->win32_handle = rule->wrong.win32_handle;
    if (rule->set & SET_NAME)
        described->win32_name = rule->wrong.win32_name;
    if (rule->set & SET_NVSCI)
        described->nvsci = rule->wrong.nvsci;
    if (rule->set & SET_SIZE)
        described->size = rule->wrong.size;
    if (rule->set & SET_DEDICATED)
        described->dedicated = rule->wrong.dedicated;
    if (rule->set & SET_PART)
        described->part = rule->wrong.part;
    if (rule->set & SET_TYPE)
        described->type = rule->wrong.type;
    if (rule->set & SET_VALUE)
        described->value = rule->wrong.value;
}

static const char *never_called(const struct subject *subject)
{
    for (size_t i = 0; i < COUNT(subject->later); i++)
        if (recorder->calls(subject->later[i]) != 0)
            FAIL("%s was called", subject->later[i]);
    return NULL;
}

static const char *refused(const struct subject *subject, const struct description *described,
                           const char *cited, const char *words)
{
    REQUIRE(!subject->is_imported(described));
    PASS_ON(refused_by_rule(cited, words));
    REQUIRE(recorder->calls(subject->import) == 0);
    return never_called(subject);
}

static const char *rule_broken(const void *row)
{
    const struct step *step = row;
    const struct rule *rule = step->rule;
    struct description good = step->subject->good(step->type), spoilt = good;
    spoil(&spoilt, rule);
    PASS_ON(refused(step->subject, &spoilt, rule->cited ? rule->cited : step->subject->import,
                    rule->words));
    if (good.fd >= 0) {
        REQUIRE(fd_is_open(good.fd));
        fd_end(good.fd);
    }
    return NULL;
}

#ifndef _WIN32
static const char *closed_fd(const void *row)
{
    const struct step *step = row;
    struct description described = step->subject->good(step->type);
    fd_end(described.fd);
    return refused(step->subject, &described, step->subject->import, "not open");
}
#endif

/* ---- Refusals by the driver ------------------------------------------------------------------ */

/* The caller keeps the handle, so that a second try can use it. */
static const char *import_refused(const void *row)
{
    const struct step *step = row;
    const struct subject *subject = step->subject;
    const struct refusal *refusal = step->refusal;
    struct description described = subject->good(step->type);
    recorder->answer(subject->import, refusal->code);
    REQUIRE(!subject->is_imported(&described));
    const gr_status class = subject->class_of ? subject->class_of(step->type, refusal)
                                              : class_of_refusal(refusal, system_of(step->type));
    PASS_ON(refused_by_driver(class, refusal->code, subject->import, refusal->words));
    PASS_ON(subject->import_is(recorder->nth(subject->import, 0), step->type, &described));
    REQUIRE(recorder->calls(subject->import) == 1);
    PASS_ON(never_called(subject));
    REQUIRE(described.fd < 0 || fd_is_open(described.fd));
    recorder->reset();
    return subject->import_and_end(step->type, &described);
}

/* ---- The walk -------------------------------------------------------------------------------- */

static bool applies(unsigned set, int number)
{
    return !set || (set & BIT(number));
}

static void break_rules(const struct subject *subject, const struct external_type *type,
                        const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (applies(rules[i].forms, type->form) && applies(rules[i].kinds, type->kind))
            run_case(type->name, rules[i].name, rule_broken,
                     &(struct step){subject, type, .rule = &rules[i]});
}

void walk_types(const struct subject *subject)
{
    for (size_t k = 0; k < subject->type_count; k++) {
        const struct external_type *type = &subject->types[k];
        struct step step = {subject, type, NULL, NULL};
        run_case(type->name, "a handle is imported", with_handle, &step);
        if (type->form == FORM_NT)
            run_case(type->name, "a name is imported", with_name, &step);
        break_rules(subject, type, common_rules, COUNT(common_rules));
        break_rules(subject, type, subject->rules, subject->rule_count);
#ifndef _WIN32
        if (type->form == FORM_FD)
            run_case(type->name, "a closed fd is refused", closed_fd, &step);
#endif
        for (size_t i = 0; i < REFUSAL_COUNT; i++)
            run_case(type->name, refusals[i].name, import_refused,
                     &(struct step){subject, type, .refusal = &refusals[i]});
    }
}
