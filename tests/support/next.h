/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For programs that override functions of libraries. The including file must define _GNU_SOURCE. */
#ifndef GR_TESTS_NEXT_H
#define GR_TESTS_NEXT_H

#include <dlfcn.h>
#include <string.h>

/* NEXT(poll): declares `next`, a pointer to the library function that this program overrides. */
#define NEXT(name)                                                                                 \
    __typeof__(name) *next;                                                                        \
    memcpy(&next, (void *[]){dlsym(RTLD_NEXT, #name)}, sizeof(next))

#endif
