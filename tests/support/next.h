/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For programs that override functions of libraries. Needs _GNU_SOURCE. */
#ifndef GR_TESTS_NEXT_H
#define GR_TESTS_NEXT_H

#include <dlfcn.h>
#include <string.h>

/* NEXT(poll): declares `next`, the next definition of the function that this program overrides. */
#define NEXT(name)                                                                                 \
    __typeof__(name) *next;                                                                        \
    memcpy(&next, (void *[]){dlsym(RTLD_NEXT, #name)}, sizeof(next))

#endif
