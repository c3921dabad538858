/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the parts of test_descriptors. */
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

/* The recording driver; loaded before the first case. */
extern const struct recorder_api *recorder;

/* ---- Cases ----------------------------------------------------------------------------------- */

/*
 * Runs one case after resetting the driver, and counts it. The case returns NULL or an error text,
 * from FAIL() or REQUIRE().
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

/* The last call broke a rule: checks the class, the citation and words of the message. */
const char *refused_by_rule(const char *cited, const char *words);

/*
 * The last call failed with this result of the driver's `call`, and its message contains these
 * words.
 */
const char *refused_by_driver(gr_status status, CUresult code, const char *call, const char *words);

/* The codes that imports are made to fail with, and whether they concern the handle. */
struct refusal {
    CUresult code;
    const char *name;
    bool about_handle;
    const char *words; /* of grinterop's message */
};
#define REFUSAL_COUNT 7
extern const struct refusal refusals[REFUSAL_COUNT];

/*
 * The resulting class in grinterop, for a handle type of Windows, of file descriptors or of NvSci.
 */
enum system { SYSTEM_FD, SYSTEM_WINDOWS, SYSTEM_NVSCI };
gr_status class_of_refusal(const struct refusal *refusal, enum system system);

/* ---- Handles --------------------------------------------------------------------------------- */

/* Placeholders: never dereferenced. */
#define SOME_HANDLE ((void *)(size_t)0x1234560)
#define SOME_NAME   ((const void *)L"name")
#define SOME_NVSCI  ((const void *)(size_t)0x7890)

/* A new descriptor, and whether it is open. On Windows just a number, which is always "open". */
int fd_make(void);
void fd_end(int fd);
bool fd_is_open(int fd);

/* The number of open descriptors; 0 on Windows. */
int fd_count(void);

/* Whether CUDA's descriptor is the caller's or a duplicate of it. */
bool fd_is_same(int one, int other);

/* ---- Types ----------------------------------------------------------------------------------- */

enum form { FORM_FD, FORM_NT, FORM_KMT, FORM_NVSCI };

/* A type of external memory or of semaphores, according to the driver's documentation. */
struct external_type {
    int number; /* in the driver API's enumeration */
    const char *name;
    enum form form;
    int kind; /* a further property that distinguishes the types of memory, or of semaphores */
};

enum system system_of(const struct external_type *type);

/* Input of an import: the fields of gr_external_memory_desc and of gr_semaphore_desc. */
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

/* Errors are set in a valid description: the fields of `wrong` that these flags name. */
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
#define IS_FD       BIT(FORM_FD)
#define IS_NVSCI    BIT(FORM_NVSCI)

struct rule {
    const char *name, *words; /* words of the message */
    unsigned set;
    struct description wrong;
    unsigned forms, kinds; /* of the types that it applies to; 0: all */
    const char *cited;     /* NULL: the import */
};

/* External memory, or semaphores. */
struct subject {
    const struct external_type *types;
    size_t type_count;

    /* Its own rules, besides those of all imports. */
    const struct rule *rules;
    size_t rule_count;

    /* The driver's import function, and those that are only called after it. */
    const char *import, *later[2];

    /* A description that obeys all rules. */
    struct description (*good)(const struct external_type *type);

    /* Imports it through grinterop; false if that is refused. The import is not ended. */
    bool (*is_imported)(const struct description *described);

    /* NULL or an error text: for the import the driver saw; for one from start to end. */
    const char *(*import_is)(const struct recorded *call, const struct external_type *type,
                             const struct description *described);
    const char *(*import_and_end)(const struct external_type *type,
                                  const struct description *described);

    /* The class that grinterop returns if the driver refuses; NULL: class_of_refusal(). */
    gr_status (*class_of)(const struct external_type *type, const struct refusal *refusal);
};

/*
 * Tests every type: imports by handle and, if possible, by name; a violation of each rule; each way
 * in which the driver refuses an import.
 */
void walk_types(const struct subject *subject);

#endif
