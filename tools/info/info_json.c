/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/info_json.h"

#include <stdio.h>

#include <grinterop/gr.h>

/* Raised when what is there is called otherwise or goes; not when something is added. */
#define SCHEMA 1

/*
 * The length of the character of UTF-8 that the text begins with; 0: it is none, as a driver's text
 * may be.
 */
static int character(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    int length = at[0] < 0x80                    ? 1
                 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                 : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                 : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* Longer than it need be, half of a pair of UTF-16's, or past the last character. */
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

static void put_string(const char *text)
{
    putchar('"');
    while (*text) {
        int length = character(text);
        if (!length)
            printf("\\ufffd");
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", *text);
        else
            printf("%.*s", length, text);
        text += length ? length : 1;
    }
    putchar('"');
}

static void put_facts(const struct finding *finding)
{
    printf("\"facts\": {");
    for (size_t i = 0; i < finding->fact_count; i++) {
        printf("%s", i ? ", " : "");
        put_string(finding->facts[i].key);
        printf(": ");
        put_string(finding->facts[i].value);
    }
    printf("}");
}

static void put_finding(const struct finding *finding)
{
    static const char *const ok[] = {"true", "false", "null"};
    printf("        {\"id\": ");
    put_string(finding->id);
    printf(", \"ok\": %s, \"label\": ", ok[finding->mark]);
    put_string(finding->label);
    printf(", \"text\": ");
    put_string(finding->text);
    printf(",\n         ");
    put_facts(finding);
    printf("}");
}

static void put_section(const char *name, const struct findings *findings)
{
    printf("    {\"name\": \"%s\", \"findings\": [", name);
    for (size_t i = 0; i < findings->count; i++) {
        printf("%s\n", i ? "," : "");
        put_finding(&findings->items[i]);
    }
    printf("]}");
}

void json_print(const struct report *report)
{
    printf("{\n  \"schema\": %d,\n  \"grinterop\": ", SCHEMA);
    put_string(gr_library_version());
    printf(",\n  \"works\": %s,\n  \"driver\": ", report->working ? "true" : "false");
    put_string(report->driver);
    printf(",\n  \"software\": %s,\n  \"paths\": {\"working\": %d, \"tried\": %d}",
           report->software ? "true" : "false", report->working, report->paths);
    if (report->probed)
        printf(",\n  \"probes\": {\"tried\": %d, \"right\": %d, \"failed\": %d}", report->probes,
               report->right, report->failed);
    printf(",\n  \"sections\": [");
    for (int s = 0; s < SECTIONS; s++) {
        printf("%s\n", s ? "," : "");
        put_section(section_names[s], &report->sections[s]);
    }
    printf("\n  ]\n}\n");
}
