/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs the fuzz targets with the inputs of their corpora, one case per input. libFuzzer is not
 * needed, so every build runs them. A failing input aborts the program, which has printed the name
 * of that input last.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "tests/support/plain_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16, PATH_ROOM = 4096 };

static const struct fuzz_target *const targets[] = {
    &fuzz_description, &fuzz_flags, &fuzz_info, &fuzz_message, &fuzz_png,
#ifndef GR_WITHOUT_DLPACK
    &fuzz_tensor,
#endif
};

/* Runs the target with a copy of exactly the file's size, so that overreads are found. */
static const char *run_file(const struct fuzz_target *target, const char *path)
{
    static unsigned char bytes[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file)
        FAIL("cannot read %s", path);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    void *copy = fuzz_copy(bytes, size);
    fprintf(stderr, "input %s\n", path);
    fuzz_run(target, copy, size);
    free(copy);
    return NULL;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void run_corpus(const struct fuzz_target *target, const char *corpora)
{
    char folder[PATH_ROOM + 32], path[PATH_ROOM + 300];
    struct dirent **entries = NULL;
    snprintf(folder, sizeof(folder), "%s/%s", corpora, target->name);
    int count = scandir(folder, &entries, is_input, alphasort);
    if (count <= 0)
        plain_case(target->name, "corpus", fail_at(__FILE__, __LINE__, "%s is empty", folder));
    if (count > 0 && target->set_up)
        target->set_up();
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        plain_case(target->name, entries[i]->d_name, run_file(target, path));
        free(entries[i]);
    }
    free(entries);
}

static const char *missing(char corpora[PATH_ROOM])
{
    const char *source = getenv("top_srcdir"), *driver = getenv("GR_CUDA_DRIVER");
    snprintf(corpora, PATH_ROOM, "%s/tests/fuzz/corpus", source ? source : "..");
    if (driver && strcmp(driver, "soft") != 0)
        return "the inputs contain descriptors of the software driver";
    DIR *folder = opendir(corpora);
    if (!folder)
        return "the inputs are only in the source folder, which is missing";
    closedir(folder);
    return NULL;
}

int main(void)
{
    char corpora[PATH_ROOM];
    const char *reason = missing(corpora);
    if (reason)
        plain_skip("fuzz", "corpora", reason);
    for (size_t i = 0; i < COUNT(targets) && !reason; i++)
        run_corpus(targets[i], corpora);
    return plain_verdict();
}
