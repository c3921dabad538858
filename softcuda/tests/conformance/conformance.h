/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Raw calls of the CUDA driver with the expected codes, which are the same on a GPU and on the
 * software driver: those of NVIDIA's driver 580 on an H200.
 */
#ifndef GR_TESTS_CONFORMANCE_H
#define GR_TESTS_CONFORMANCE_H

#include "tests/support/support.h"

/*
 * One row: the call must return CUDA_<code>. A wrong code is recorded and the case continues, so
 * that one run shows them all; the case fails at its end.
 */
#define CALL(code, call) conformance_note("cu" #call, fx.cu->call, CUDA_##code)

/*
 * The same with a description that equals `good` except for one field; the call names it `changed`.
 */
#define CALL_WITH(code, change, call)                                                              \
    do {                                                                                           \
        __typeof__(good) changed = good;                                                           \
        changed.change;                                                                            \
        conformance_note("cu" #call " with " #change, fx.cu->call, CUDA_##code);                   \
    } while (0)

/* For calls that crash NVIDIA's driver, or that it accepts: the software driver's code. */
#define CALL_SOFT(code, call)                                                                      \
    do {                                                                                           \
        if (gr_cuda_is_software())                                                                 \
            CALL(code, call);                                                                      \
    } while (0)

void conformance_note(const char *call, CUresult got, CUresult wanted);

/* Adds a case whose rows are recorded. */
TCase *add_conformance_case(Suite *suite, const char *name);

#endif
