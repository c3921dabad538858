/* SPDX-License-Identifier: Apache-2.0 */
/* The graphics functions that the documents use: each must be one that a reader can call. */
#ifndef GR_TESTS_NAMED_FUNCTIONS_H
#define GR_TESTS_NAMED_FUNCTIONS_H

#include <stdbool.h>

/*
 * Calls `visit` for each function that the public headers, docs/guide.md and docs/vulkan.md call,
 * or name in backquotes, and whose name is `prefix` with a capital letter behind it. A name may
 * come twice. Returns how many there were; 0 where the sources are not at hand.
 */
unsigned visit_named_functions(const char *prefix, void (*visit)(const char *name));

#endif
