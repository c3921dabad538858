/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer calls that fail in the same way. */
#ifndef GR_TESTS_FUZZ_SHRINK_H
#define GR_TESTS_FUZZ_SHRINK_H

#include "child.h"

/*
 * Leaves out of the journal's calls what is not needed for the failure. False: the calls do not
 * fail by themselves, so that all of them are left.
 */
bool shrink(const struct run *run, const struct verdict *failure);

#endif
