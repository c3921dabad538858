/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/option_table.h"

static const char *const cuda_endings[] = {".cu", ".cup", NULL};
static const char *const source_endings[] = {".cu",  ".c", ".cc",  ".cpp",
                                             ".cxx", ".C", ".c++", NULL};

static bool ends_with_one(const char *path, const char *const *endings)
{
    for (; *endings; endings++)
        if (ends_with(path, *endings))
            return true;
    return false;
}

bool is_source(const options *o, const char *path)
{
    if (ends_with_one(path, source_endings))
        return true;
    /* With -x, every file is a source except those for the linker. */
    static const char *const linked[] = {".o", ".a", ".so", ".obj", NULL};
    return o->language && !ends_with_one(path, linked) && !strstr(base_name(path), ".so.");
}

bool is_cuda(const options *o, const char *path)
{
    if (o->language)
        return strcmp(o->language, "cu") == 0;
    return ends_with_one(path, cuda_endings);
}

static void read_words(options *o, const words *list);

static void read_option_file(options *o, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        die("cannot read the options file %s", path);
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    if (size == sizeof(text) - 1)
        die("the options file %s is larger than %zu bytes", path, sizeof(text));
    text[size] = '\0';
    words list = {0};
    words_add_shell(&list, text);
    read_words(o, &list);
}

/*
 * Whether the word is this option. *value is the value inside the word, after = or directly after
 * the name; NULL if there is none.
 */
static bool fits(const option *option, const char *name, const char *word, const char **value)
{
    size_t length = strlen(name);
    *value = NULL;
    if (strncmp(word, name, length) != 0)
        return false;
    if (word[length] == '\0')
        return true;
    if (option->takes == TAKES_NOTHING)
        return false;
    if (word[length] == '=') {
        *value = word + length + 1;
        return true;
    }
    *value = word + length;
    return option->takes == TAKES_JOINED && word[1] != '-';
}

/*
 * Finds the option that a word begins with. A whole name takes precedence over a prefix: -lineinfo
 * does not link the library "ineinfo".
 */
static const option *find_option(const char *word, const char **value)
{
    const option *joined = NULL;
    const char *joined_value = NULL;
    for (const option *o = option_table; o->name; o++) {
        if (!fits(o, o->name, word, value) && !fits(o, o->long_name, word, value))
            continue;
        if (!*value || (*value)[-1] == '=')
            return o;
        joined = o;
        joined_value = *value;
    }
    *value = joined_value;
    return joined;
}

static void read_unknown(options *o, const char *word)
{
    bool common = begins_with(word, "-f") || begins_with(word, "-W");
    if (!o->to_compiler && !o->to_linker && !common)
        die("nvcc has no option %s. Pass options of the host compiler with -Xcompiler: -Xcompiler "
            "%s",
            word, word);
    if (o->to_compiler || !o->to_linker) /* the linker also gets the options of the compiler */
        words_add(&o->compile, word);
    else
        words_add(&o->link, word);
}

/*
 * Whether an option that takes a value may have none. Compilers treat -O as -O1; nvcc also accepts
 * -O 3.
 */
static bool may_stand_alone(const option *option, const char *next)
{
    return strcmp(option->name, "-O") == 0 && (!next || !isdigit((unsigned char)next[0]));
}

/* Reads one option. Returns the number of words that it uses. */
static size_t read_option(options *o, const words *list, size_t i)
{
    const char *word = list->items[i], *value;
    const option *option = find_option(word, &value);
    if (!option) {
        read_unknown(o, word);
        return 1;
    }
    bool needs_value = option->takes != TAKES_NOTHING && !value;
    size_t used = 1;
    if (needs_value && may_stand_alone(option, list->items[i + 1])) {
        value = "";
    } else if (needs_value) {
        value = list->items[i + 1];
        used = 2;
        if (!value)
            die("%s needs a value: %s VALUE", word, word);
    }
    option->act(o, option, value);
    words files = o->files;
    o->files = (words){0};
    for (size_t k = 0; k < files.count; k++)
        read_option_file(o, files.items[k]);
    return used;
}

static void read_words(options *o, const words *list)
{
    for (size_t i = 0; i < list->count;) {
        const char *word = list->items[i];
        if (word[0] == '@') {
            read_option_file(o, word + 1);
            i++;
        } else if (word[0] == '-' && word[1] != '\0') {
            i += read_option(o, list, i);
        } else {
            words_add(&o->link, word);
            i++;
        }
    }
}

static void read_environment(options *o, const char *name)
{
    const char *text = secure_getenv(name);
    words list = {0};
    if (text)
        words_add_shell(&list, text);
    read_words(o, &list);
}

static void find_sources(options *o)
{
    for (size_t i = 0; i < o->link.count; i++) {
        if (strcmp(o->link.items[i], "-Xlinker") == 0)
            i++;
        else if (o->link.items[i][0] != '-' && is_source(o, o->link.items[i]))
            words_add(&o->sources, o->link.items[i]);
    }
}

void options_read(options *o, int count, char **arguments)
{
    words list = {0};
    for (int i = 1; i < count; i++)
        words_add(&list, arguments[i]);
    read_environment(o, "NVCC_PREPEND_FLAGS");
    read_words(o, &list);
    read_environment(o, "NVCC_APPEND_FLAGS");
    find_sources(o);
    if (o->help || o->version)
        return;
    if (o->link.count == 0)
        die("no file to compile. --help lists the options");
    if (o->output && o->sources.count > 1 &&
        (o->phase == PHASE_COMPILE || o->phase == PHASE_PREPROCESS))
        die("-o names one file, but there are %zu sources: compile them one at a time",
            o->sources.count);
}
