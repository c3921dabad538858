/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds function names in the documents; see named_functions.h. */
#define _GNU_SOURCE
#include "named_functions.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static unsigned visit_in_line(const char *line, const char *prefix, void (*visit)(const char *name))
{
    unsigned found = 0;
    for (const char *at = line; (at = strstr(at, prefix)); at++) {
        size_t length = strlen(prefix);
        if ((at > line && is_of_name(at[-1])) || !isupper((unsigned char)at[length]))
            continue;
        while (is_of_name(at[length]))
            length++;
        if (at[length] != '(' && at[length] != '`')
            continue;
        char name[80];
        ck_assert_uint_lt(length, sizeof(name));
        memcpy(name, at, length);
        name[length] = '\0';
        visit(name);
        found++;
    }
    return found;
}

static unsigned visit_in_file(const char *path, const char *prefix, void (*visit)(const char *name))
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    unsigned found = 0;
    ck_assert_msg(file, "%s", path);
    while (getline(&line, &room, file) >= 0)
        found += visit_in_line(line, prefix, visit);
    free(line);
    fclose(file);
    return found;
}

unsigned visit_named_functions(const char *prefix, void (*visit)(const char *name))
{
    static const char *const places[] = {"include/grinterop/*.h*", "docs/guide.md",
                                         "docs/vulkan.md"};
    const char *source = getenv("top_srcdir");
    unsigned found = 0;
    for (int i = 0; i < 3 && source; i++) {
        char pattern[4096];
        glob_t files;
        snprintf(pattern, sizeof(pattern), "%s/%s", source, places[i]);
        if (glob(pattern, 0, NULL, &files) != 0)
            continue;
        for (size_t k = 0; k < files.gl_pathc; k++)
            found += visit_in_file(files.gl_pathv[k], prefix, visit);
        globfree(&files);
    }
    return found;
}
