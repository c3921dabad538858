/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "script.h"

#include "calls.h"

#include <stdlib.h>
#include <string.h>

static void write_call(FILE *file, unsigned thread, const struct call *call)
{
    const struct entry *entry = entry_at(call->entry);
    fprintf(file, "%u %s", thread, entry->name);
    for (size_t i = 0; entry->format[i]; i++)
        fprintf(file, " %c%d", entry->format[i], call->argument[i]);
    fputc('\n', file);
}

void script_write(FILE *file, const struct script scripts[])
{
    for (unsigned t = 0; t < MOST_THREADS; t++)
        for (unsigned i = 0; i < scripts[t].count; i++)
            write_call(file, t, &scripts[t].calls[i]);
}

/*
 * Reads as many arguments as the entry has. The letters before them are only for readers, and are
 * skipped.
 */
static bool read_arguments(const struct entry *entry, int argument[])
{
    for (size_t i = 0; entry->format[i]; i++) {
        const char *word = strtok(NULL, " \n");
        if (!word)
            return false;
        argument[i] = (int)strtol(word + 1, NULL, 10);
    }
    return !strtok(NULL, " \n");
}

static bool read_call(char *line, struct script scripts[])
{
    const char *thread = strtok(line, " \n");
    if (!thread || thread[0] == '#')
        return true;
    const char *name = strtok(NULL, " \n");
    unsigned long t = strtoul(thread, NULL, 10);
    if (!name || t >= MOST_THREADS || scripts[t].count == MOST_CALLS)
        return false;
    struct call *call = &scripts[t].calls[scripts[t].count];
    *call = (struct call){.entry = entry_named(name)};
    if (call->entry < 0 || !read_arguments(entry_at(call->entry), call->argument))
        return false;
    scripts[t].count++;
    return true;
}

bool script_read(FILE *file, struct script scripts[])
{
    char line[2048], text[2048];
    for (unsigned t = 0; t < MOST_THREADS; t++)
        scripts[t].count = 0;
    while (fgets(line, sizeof(line), file)) {
        strcpy(text, line);
        if (read_call(line, scripts))
            continue;
        fprintf(stderr, "no call: %s", text);
        return false;
    }
    return true;
}
