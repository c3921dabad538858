/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the graphics functions that the documents mention: programs must be able to call each of
 * them.
 */
#ifndef GR_TESTS_NAMED_FUNCTIONS_H
#define GR_TESTS_NAMED_FUNCTIONS_H

#include <stdbool.h>

/*
 * Calls `visit` for each function whose name is `prefix` followed by a capital letter and that the
 * public headers, docs/guide.md or docs/vulkan.md call or quote in backquotes. A name may occur
 * twice. Returns the number of names; 0 if the sources are not available.
 */
unsigned visit_named_functions(const char *prefix, void (*visit)(const char *name));

#endif
