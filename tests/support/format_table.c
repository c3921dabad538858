/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the table of formats; see format_table.h. */
#include "format_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME    "formats-h200.txt"
#define MOST_FORMATS 128
#define MOST_TARGETS 16
#define MOST_COLUMNS (MOST_TARGETS + 1)

static struct target_facts facts[MOST_TARGETS];
static struct format_cell cells[MOST_FORMATS][MOST_TARGETS];
static const struct image_target *columns[MOST_COLUMNS];
static bool was_read;

/* ---- Lines ----------------------------------------------------------------------------------- */

static size_t split(char *line, char *words[MOST_COLUMNS])
{
    size_t count = 0;
    for (char *word = strtok(line, " \n"); word && count < MOST_COLUMNS; word = strtok(NULL, " \n"))
        words[count++] = word;
    return count;
}

static void copy(char *to, size_t size, const char *word)
{
    ck_assert_msg(strlen(word) < size, "\"%s\" is too long", word);
    strcpy(to, word);
}

static void read_target(char **words, size_t count)
{
    const struct image_target *target = image_target(words[0]);
    ck_assert_msg(target && count == 7, "the line of target %s is wrong", words[0]);
    struct target_facts *to = &facts[target - image_targets];
    to->taken = true;
    copy(to->array, sizeof(to->array), words[1]);
    to->levels = (unsigned)atoi(words[2]);
    to->layers = (unsigned)atoi(words[3]);
    copy(to->mipmapped, sizeof(to->mipmapped), words[4]);
    to->flags = (unsigned)atoi(words[5]);
    copy(to->level1, sizeof(to->level1), words[6]);
}

static void read_heading(char **words, size_t count)
{
    ck_assert_uint_eq(count, image_target_count + 1);
    for (size_t i = 1; i < count; i++) {
        columns[i] = image_target(words[i]);
        ck_assert_msg(columns[i], "the tests know no target %s", words[i]);
    }
}

static void read_format(char **words, size_t count)
{
    const struct image_format *format = image_format(words[0]);
    ck_assert_msg(format, "the tests know no format %s", words[0]);
    ck_assert_uint_eq(count, image_target_count + 1);
    for (size_t i = 1; i < count; i++) {
        struct format_cell *cell = &cells[format - image_formats][columns[i] - image_targets];
        copy(cell->text, sizeof(cell->text), words[i]);
    }
}

static void read_lines(FILE *file)
{
    char line[512], *words[MOST_COLUMNS];
    void (*read_line)(char **, size_t) = NULL;
    while (fgets(line, sizeof(line), file)) {
        size_t count = line[0] == '#' ? 0 : split(line, words);
        if (count == 0)
            continue;
        if (strcmp(words[0], "target") == 0) {
            read_line = read_target;
        } else if (strcmp(words[0], "format") == 0) {
            read_heading(words, count);
            read_line = read_format;
        } else {
            ck_assert_msg(read_line, "a line without a heading: %s", words[0]);
            read_line(words, count);
        }
    }
}

void format_table_read(void)
{
    if (was_read)
        return;
    ck_assert_uint_le(image_format_count, MOST_FORMATS);
    ck_assert_uint_le(image_target_count, MOST_TARGETS);
    char path[4096];
    const char *folder = getenv("GR_TEST_DATA");
    ck_assert_msg(folder, "GR_TEST_DATA is not set to a folder; tests/run-test sets it");
    snprintf(path, sizeof(path), "%s/" FILE_NAME, folder);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "no %s", path);
    read_lines(file);
    fclose(file);
    for (size_t i = 0; i < image_format_count; i++)
        for (size_t k = 0; k < image_target_count; k++)
            ck_assert_msg(cells[i][k].text[0] != '\0', "the table lacks %s %s",
                          image_formats[i].name, image_targets[k].name);
    was_read = true;
}

/* ---- Queries --------------------------------------------------------------------------------- */

const struct target_facts *format_table_target(const struct image_target *target)
{
    return &facts[target - image_targets];
}

const char *format_table_cell(const struct image_format *format, const struct image_target *target)
{
    return cells[format - image_formats][target - image_targets].text;
}

struct format_cell format_cell_of(CUarray_format format, unsigned channels)
{
    static const struct {
        CUarray_format format;
        const char *name;
    } names[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, "uint8"},
        {CU_AD_FORMAT_UNSIGNED_INT16, "uint16"},
        {CU_AD_FORMAT_UNSIGNED_INT32, "uint32"},
        {CU_AD_FORMAT_SIGNED_INT8, "sint8"},
        {CU_AD_FORMAT_SIGNED_INT16, "sint16"},
        {CU_AD_FORMAT_SIGNED_INT32, "sint32"},
        {CU_AD_FORMAT_HALF, "half"},
        {CU_AD_FORMAT_FLOAT, "float"},
    };
    struct format_cell cell = {"unknown"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].format == format)
            snprintf(cell.text, sizeof(cell.text), "%sx%u", names[i].name, channels);
    return cell;
}
