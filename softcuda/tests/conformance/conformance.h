/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Raw calls of the CUDA driver with the codes that they must return. The codes are the same on a
 * GPU and on the software driver: those of version 580 of the NVIDIA driver on an H200.
 */
#ifndef GR_TESTS_CONFORMANCE_H
#define GR_TESTS_CONFORMANCE_H

#include "softcuda/tests/reads.h"

/*
 * One row: the call must return CUDA_<code>. A wrong code is recorded and the case continues, so
 * that one run shows all wrong codes. The case fails at its end.
 */
#define CALL(code, call) conformance_note("cu" #call, fx.cu->call, CUDA_##code)

/* Like CALL for a query that must succeed and write the expected value. */
#define CALL_READS(value, expected, call) READS_BY(value, expected, CALL(SUCCESS, call), "cu" #call)

/* Like CALL for a call with a description `changed`, which equals `good` except for one field. */
#define CALL_WITH(code, change, call)                                                              \
    do {                                                                                           \
        __typeof__(good) changed = good;                                                           \
        changed.change;                                                                            \
        conformance_note("cu" #call " with " #change, fx.cu->call, CUDA_##code);                   \
    } while (0)

/*
 * A row for a call that crashes the NVIDIA driver, that the NVIDIA driver accepts, or for which its
 * code is not known. The code is only checked on the software driver.
 */
#define CALL_SOFT(code, call)                                                                      \
    do {                                                                                           \
        if (gr_cuda_is_software())                                                                 \
            CALL(code, call);                                                                      \
    } while (0)

#define CALL_SOFT_WITH(code, change, call)                                                         \
    do {                                                                                           \
        if (gr_cuda_is_software())                                                                 \
            CALL_WITH(code, change, call);                                                         \
    } while (0)

void conformance_note(const char *call, CUresult got, CUresult wanted);

#endif
