/* SPDX-License-Identifier: Apache-2.0 */
/* Files below a folder that stands for /, which tests make. */
#ifndef INFO_ROOTED_H
#define INFO_ROOTED_H

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>

enum { ROOTED_ROOM = 600 };

bool rooted_is_there(const char *root, const char *name);

/* The file's first line, without its end; false if it cannot be read. */
bool rooted_line(const char *root, const char *name, char *line, size_t size);

/* All that the pattern names; globfree() where there is any. */
void rooted_glob(const char *root, const char *pattern, glob_t *found);

#endif
