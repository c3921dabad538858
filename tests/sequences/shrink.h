/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reduces a failing sequence to fewer calls that fail in the same way. */
#ifndef GR_TESTS_FUZZ_SHRINK_H
#define GR_TESTS_FUZZ_SHRINK_H

#include "child.h"

/*
 * Removes calls from the journal that the failure does not need. Returns false, with all calls
 * kept, if these calls alone do not fail.
 */
bool shrink(const struct run *run, const struct verdict *failure);

#endif
