/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The types of external semaphores, according to the documentation of the driver. */
#ifndef GR_TESTS_DESCRIPTORS_SEMAPHORE_H
#define GR_TESTS_DESCRIPTORS_SEMAPHORE_H

#include "descriptors.h"

enum kind { KIND_BINARY, KIND_FENCE, KIND_KEYED, KIND_NVSCI };

#define SEMAPHORE_TYPES 10
extern const struct external_type semaphore_types[SEMAPHORE_TYPES];

/* Imports a semaphore of this type. A fence has the value 17. */
gr_semaphore *semaphore_of(const struct external_type *type);

#endif
