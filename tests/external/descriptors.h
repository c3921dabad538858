/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_descriptors. */
#ifndef GR_TESTS_DESCRIPTORS_H
#define GR_TESTS_DESCRIPTORS_H

#include <stdint.h>

#include <grinterop/cuda.h>
#include <grinterop/external.h>
#include <grinterop/submit.h>

#include "tests/support/plain_case.h"
#include "tests/drivers/recorder_driver.h"

/* missing in the headers of CUDA 12 */
#define DMABUF_FD 9

/* The recorder driver, which is loaded before the first case. */
extern const struct recorder_api *recorder;

/* ---- Cases ----------------------------------------------------------------------------------- */

/*
 * Resets the driver, runs one case, and counts it. The case returns NULL, or an error text from
 * FAIL() or REQUIRE().
 */
void run_case(const char *group, const char *name, const char *(*run)(const void *row),
              const void *row);

/* The groups of cases. */
void memory_cases(void);
void image_cases(void);
void semaphore_cases(void);
void point_cases(void);
void size_cases(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

/*
 * Checks that the last call was refused because of a rule: the error class, the citation and words
 * of the message. Returns NULL or an error text.
 */
const char *refused_by_rule(const char *cited, const char *words);

/*
 * Checks that the last call failed because the driver returned this code for `call`, and that its
 * message contains these words. Returns NULL or an error text.
 */
const char *refused_by_driver(gr_status status, CUresult code, const char *call, const char *words);

/* A code with which an import is made to fail, and whether the code concerns the handle. */
struct refusal {
    CUresult code;
    const char *name;
    bool about_handle;
    const char *words; /* words of the message of grinterop */
};
#define REFUSAL_COUNT 7
extern const struct refusal refusals[REFUSAL_COUNT];

/*
 * The status that grinterop returns for a refusal. It depends on the system to which the handle
 * type belongs: file descriptors, Windows or NvSci.
 */
enum system { SYSTEM_FD, SYSTEM_WINDOWS, SYSTEM_NVSCI };
gr_status class_of_refusal(const struct refusal *refusal, enum system system);

/* ---- Handles --------------------------------------------------------------------------------- */

/* Placeholders, which are never dereferenced. */
#define SOME_HANDLE ((void *)(size_t)0x1234560)
#define SOME_NAME   ((const void *)L"name")
#define SOME_NVSCI  ((const void *)(size_t)0x7890)

/*
 * fd_make() returns a new descriptor, and fd_is_open() says whether it is open. On Windows a
 * descriptor is just a number, which is always "open".
 */
int fd_make(void);
void fd_end(int fd);
bool fd_is_open(int fd);

/* The number of open descriptors; 0 on Windows. */
int fd_count(void);

/* Whether the descriptor that CUDA got is that of the caller or a duplicate of it. */
bool fd_is_same(int one, int other);

/* ---- Types ----------------------------------------------------------------------------------- */

enum form { FORM_FD, FORM_NT, FORM_KMT, FORM_NVSCI };

/*
 * A type of external memory or of external semaphores, according to the documentation of the
 * driver.
 */
struct external_type {
    int number; /* in the enumeration of the driver API */
    const char *name;
    enum form form;
    int kind; /* a further property in which the types of memory, or of semaphores, differ */
};

enum system system_of(const struct external_type *type);

/* The input of an import: the fields of gr_external_memory_desc and of gr_semaphore_desc. */
struct description {
    int type, fd;
    void *win32_handle;
    const void *win32_name, *nvsci;
    size_t size;
    bool dedicated;
    gr_external_part_desc part;
    uint64_t value;
};

/* A description of this type with a valid handle. No other field is set. */
struct description describe_handle(const struct external_type *type);

/* ---- The walk over types --------------------------------------------------------------------- */

/*
 * A rule is broken by copying fields of `wrong` to a valid description. These flags select the
 * fields.
 */
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

/* Sets of forms and of kinds. */
#define BIT(number) (1u << (number))
#define IS_FD       BIT(FORM_FD)
#define IS_NVSCI    BIT(FORM_NVSCI)

struct rule {
    const char *name, *words; /* words of the message */
    unsigned set;
    struct description wrong;
    unsigned forms, kinds; /* the forms and kinds of the types to which the rule applies; 0: all */
    const char *cited;     /* the driver function that the message cites; NULL: the import */
};

/* What walk_types() tests: external memory, or external semaphores. */
struct subject {
    const struct external_type *types;
    size_t type_count;

    /* The rules that apply in addition to those of all imports. */
    const struct rule *rules;
    size_t rule_count;

    /* The import function of the driver, and functions that may only be called after it. */
    const char *import, *later[2];

    /* Returns a description that obeys all rules. */
    struct description (*good)(const struct external_type *type);

    /*
     * Makes grinterop import the described object, and leaves the import open. Returns false if
     * grinterop refuses the import.
     */
    bool (*is_imported)(const struct description *described);

    /*
     * Return NULL or an error text. import_is() checks the import that the driver saw;
     * import_and_end() imports, checks and ends the import.
     */
    const char *(*import_is)(const struct recorded *call, const struct external_type *type,
                             const struct description *described);
    const char *(*import_and_end)(const struct external_type *type,
                                  const struct description *described);

    /* The class that grinterop returns if the driver refuses. NULL: class_of_refusal(). */
    gr_status (*class_of)(const struct external_type *type, const struct refusal *refusal);
};

/*
 * Tests every type: imports by handle and, if possible, by name; imports that break each rule; and
 * each code with which the driver refuses an import.
 */
void walk_types(const struct subject *subject);

#endif
