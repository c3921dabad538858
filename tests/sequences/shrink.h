/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reduces a failing sequence to fewer calls that fail in the same way. */
#ifndef GR_TESTS_FUZZ_SHRINK_H
#define GR_TESTS_FUZZ_SHRINK_H

#include "child.h"

/*
 * Removes the calls from the journal that the failure does not need. Returns false, and keeps all
 * calls, if the recorded calls do not fail again.
 */
bool shrink(const struct run *run, const struct verdict *failure);

#endif
