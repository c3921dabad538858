/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw calls of the CUDA driver with the code that each has to give, the same on a GPU and on the
 * software driver. The codes are those of NVIDIA's driver 580 on an H200.
 */
#ifndef GR_TESTS_CONFORMANCE_H
#define GR_TESTS_CONFORMANCE_H

#include "tests/support/support.h"

/*
 * One row: the call has to give CUDA_<code>. A wrong code is noted, and the case goes on, so that
 * one run shows them all; the case fails at its end.
 */
#define CALL(code, call) conformance_note("cu" #call, fx.cu->call, CUDA_##code)

/* The same with a description that is as `good` but for one field; in the call it is `changed`. */
#define CALL_WITH(code, change, call)                                                              \
    do {                                                                                           \
        __typeof__(good) changed = good;                                                           \
        changed.change;                                                                            \
        conformance_note("cu" #call " with " #change, fx.cu->call, CUDA_##code);                   \
    } while (0)

/* For what ends the process on NVIDIA's driver, the software driver has to have a code. */
#define CALL_SOFT(code, call)                                                                      \
    do {                                                                                           \
        if (gr_cuda_is_software())                                                                 \
            CALL(code, call);                                                                      \
    } while (0)

void conformance_note(const char *call, CUresult got, CUresult wanted);

/* A case whose rows are noted. */
TCase *add_conformance_case(Suite *suite, const char *name);

#endif
