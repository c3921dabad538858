/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/info/rooted.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool rooted_is_there(const char *root, const char *name)
{
    char path[ROOTED_ROOM];
    snprintf(path, sizeof(path), "%s%s", root, name);
    return access(path, F_OK) == 0;
}

bool rooted_line(const char *root, const char *name, char *line, size_t size)
{
    char path[ROOTED_ROOM];
    snprintf(path, sizeof(path), "%s%s", root, name);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    return read;
}

void rooted_glob(const char *root, const char *pattern, glob_t *found)
{
    char path[ROOTED_ROOM];
    snprintf(path, sizeof(path), "%s%s", root, pattern);
    if (glob(path, 0, NULL, found) != 0)
        *found = (glob_t){0};
}
