/* SPDX-License-Identifier: Apache-2.0 */
/* The types of external semaphores, as the driver's documentation has them. */
#ifndef GR_TESTS_DESCRIPTORS_SEMAPHORE_H
#define GR_TESTS_DESCRIPTORS_SEMAPHORE_H

#include "descriptors.h"

enum form { FORM_FD, FORM_NT, FORM_KMT, FORM_NVSCI };
enum kind { KIND_BINARY, KIND_FENCE, KIND_KEYED, KIND_NVSCI };

struct semaphore_type {
    int number; /* of the driver API's enumeration */
    const char *name;
    enum form form;
    enum kind kind;
};

#define SEMAPHORE_TYPES 10
extern const struct semaphore_type semaphore_types[SEMAPHORE_TYPES];

/* A description that obeys all rules; a fence has the value 17. */
gr_semaphore_info semaphore_info(const struct semaphore_type *type);

#endif
