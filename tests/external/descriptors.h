/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of test_descriptors share. */
#ifndef GR_TESTS_DESCRIPTORS_H
#define GR_TESTS_DESCRIPTORS_H

#include <stdint.h>

#include <grinterop/cuda.h>
#include <grinterop/external.h>
#include <grinterop/submit.h>

#include "tests/support/plain_case.h"
#include "tests/drivers/recorder_driver.h"

/* Not in the headers of CUDA 12. */
#define DMABUF_FD 9

/* The driver that remembers; loaded before the first case. */
extern const struct recorder_api *recorder;

/* ---- Cases ----------------------------------------------------------------------------------- */

/*
 * Runs one case on a driver that has forgotten everything, and counts it. It returns NULL, or what
 * was wrong, from FAIL() or REQUIRE().
 */
void run_case(const char *group, const char *name, const char *(*run)(const void *row),
              const void *row);

/* The groups. */
void memory_cases(void);
void image_cases(void);
void semaphore_cases(void);
void point_cases(void);
void size_cases(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The last call failed by a rule: the class, and words that the message has beside the citation. */
const char *refused_by_rule(const char *cited, const char *words);

/* It failed by this answer of the driver's `call`, and the message has these words. */
const char *refused_by_driver(gr_status status, CUresult code, const char *call, const char *words);

/* The codes that imports are made to fail with, and whether they are about the handle given. */
struct refusal {
    CUresult code;
    const char *name;
    bool about_handle;
    const char *words; /* of grinterop's message */
};
#define REFUSAL_COUNT 7
extern const struct refusal refusals[REFUSAL_COUNT];

/*
 * The class that grinterop makes of it, for a type of Windows or one of file descriptors, or of
 * NvSci.
 */
enum system { SYSTEM_FD, SYSTEM_WINDOWS, SYSTEM_NVSCI };
gr_status class_of_refusal(const struct refusal *refusal, enum system system);

/* ---- Handles --------------------------------------------------------------------------------- */

/* Stand-ins: nothing looks behind them. */
#define SOME_HANDLE ((void *)(size_t)0x1234560)
#define SOME_NAME   ((const void *)L"name")
#define SOME_NVSCI  ((const void *)(size_t)0x7890)

/*
 * A descriptor of its own, and whether it is open. On Windows only a number, which is always
 * "open".
 */
int fd_make(void);
void fd_end(int fd);
bool fd_is_open(int fd);

/* How many there are; 0 on Windows. */
int fd_count(void);

/* Whether CUDA's descriptor is the caller's, or a copy of it. */
bool fd_is_same(int one, int other);

/* ---- Types ----------------------------------------------------------------------------------- */

enum form { FORM_FD, FORM_NT, FORM_KMT, FORM_NVSCI };

/* A type of external memory or of semaphores, as the driver's documentation has it. */
struct external_type {
    int number; /* of the driver API's enumeration */
    const char *name;
    enum form form;
    int kind; /* what the types of memory, or those of semaphores, differ in beside it */
};

enum system system_of(const struct external_type *type);

/* What an import is told: the fields of gr_external_memory_desc and of gr_semaphore_desc. */
struct description {
    int type, fd;
    void *win32_handle;
    const void *win32_name, *nvsci;
    size_t size;
    bool dedicated;
    gr_external_part_desc part;
    uint64_t value;
};

/* A type and a handle of its form, nothing else. */
struct description describe_handle(const struct external_type *type);

/* ---- The walk over types --------------------------------------------------------------------- */

/* What is wrong is set over a right description: the fields of `wrong` that these name. */
enum {
    SET_FD = 1,
    SET_HANDLE = 2,
    SET_NAME = 4,
    SET_NVSCI = 8,
    SET_SIZE = 16,
    SET_DEDICATED = 32,
    SET_PART = 64,
    SET_TYPE = 128,
    SET_VALUE = 256,
};

/* Sets of forms and kinds. */
#define BIT(number) (1u << (number))
#define ANY         (~0u)

struct rule {
    const char *name;
    unsigned forms, kinds; /* of the types that it is for */
    unsigned set;
    struct description wrong;
    const char *cited; /* NULL: the import */
    const char *words;
};

/* External memory, or semaphores. */
struct subject {
    const struct external_type *types;
    size_t type_count;

    /* Its own, beside those that all imports have. */
    const struct rule *rules;
    size_t rule_count;

    /* The driver's import, and its calls that come only after one. */
    const char *import, *later[2];

    /* A description that obeys all rules. */
    struct description (*good)(const struct external_type *type);

    /* Has grinterop import it; false if that is refused. What was imported is not ended. */
    bool (*is_imported)(const struct description *described);

    /* NULL, or what was wrong: with the import that the driver saw; with one from start to end. */
    const char *(*import_is)(const struct recorded *call, const struct external_type *type,
                             const struct description *described);
    const char *(*import_and_end)(const struct external_type *type,
                                  const struct description *described);

    /* What grinterop makes of a refusal by the driver. */
    gr_status (*class_of)(const struct external_type *type, const struct refusal *refusal);
};

/*
 * Runs for every type: an import by its handle and, where there are some, by its name; each rule,
 * broken; each refusal by the driver.
 */
void walk_types(const struct subject *subject);

#endif
