/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Atomic access to fields of public structs, which C++ programs include without _Atomic. */
#ifndef GR_LIB_BASE_PUBLIC_ATOMIC_H
#define GR_LIB_BASE_PUBLIC_ATOMIC_H

#include <stdatomic.h>

/* The address of such a field, as the functions for atomics of C11 take it. */
#define GR_PUBLIC_ATOMIC(type, field) ((_Atomic(type) *)&(field))

#endif
