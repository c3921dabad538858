/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints the report: JSON for programs, and text for the screen. */
#define _GNU_SOURCE
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <grinterop/gr.h>

#include "tools/info/report.h"
#include "tools/options.h"

/* The version of the schema is raised when a field is renamed or removed, not when one is added. */
enum { SCHEMA = 1, INDENT = 4, TEXT_INDENT = 6 };

static const struct {
    const char *name, *title;
} sections[SECTIONS] = {
    [SECTION_CUDA] = {"cuda", "CUDA"},
    [SECTION_OPENGL] = {"opengl", "OpenGL"},
    [SECTION_VULKAN] = {"vulkan", "Vulkan"},
    [SECTION_PROBES] = {"probes", "Probes"},
    [SECTION_SURROUNDINGS] = {"surroundings", "Surroundings"},
};

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The length of the first UTF-8 character. 0 if it is invalid or a control character. */
static int character(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    const int length = at[0] < ' '    ? 0
                       : at[0] < 0x80 ? 1
                       : at[0] < 0xc2 ? 0
                       : at[0] < 0xe0 ? 2
                       : at[0] < 0xf0 ? 3
                       : at[0] < 0xf5 ? 4
                                      : 0;
    /* The limits exclude overlong forms, UTF-16 surrogates, and codes beyond the last character. */
    unsigned least = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    unsigned most = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    for (int i = 1; i < length; i++, least = 0x80, most = 0xbf)
        if (at[i] < least || at[i] > most)
            return 0;
    return length;
}

static void put_string(const char *before, const char *text)
{
    printf("%s\"", before);
    while (*text) {
        int length = character(text);
        if (!length)
            printf("\\ufffd");
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            printf("%.*s", length, text);
        text += length ? length : 1;
    }
    putchar('"');
}

static void put_finding(const struct finding *finding)
{
    static const char *const ok[] = {"true", "false", "null"};
    put_string("        {\"id\": ", finding->id);
    printf(", \"ok\": %s", ok[finding->mark]);
    put_string(", \"label\": ", finding->label);
    put_string(", \"text\": ", finding->text);
    printf(",\n         \"facts\": {");
    for (size_t i = 0; i < finding->fact_count; i++) {
        put_string(i ? ", " : "", finding->facts[i].key);
        put_string(": ", finding->facts[i].value);
    }
    printf("}}");
}

void report_print_json(const struct report *report)
{
    printf("{\n  \"schema\": %d", SCHEMA);
    put_string(",\n  \"grinterop\": ", gr_library_version());
    printf(",\n  \"works\": %s", report->working ? "true" : "false");
    put_string(",\n  \"driver\": ", report->driver);
    printf(",\n  \"software\": %s,\n  \"paths\": {\"working\": %d, \"tried\": %d}",
           report->software ? "true" : "false", report->working, report->paths);
    if (report->probed)
        printf(",\n  \"probes\": {\"tried\": %d, \"right\": %d, \"failed\": %d}", report->probes,
               report->right, report->failed);
    printf(",\n  \"sections\": [");
    for (int s = 0; s < SECTIONS; s++) {
        printf("%s\n    {\"name\": \"%s\", \"findings\": [", s ? "," : "", sections[s].name);
        for (size_t i = 0; i < report->sections[s].count; i++) {
            printf("%s\n", i ? "," : "");
            put_finding(&report->sections[s].items[i]);
        }
        printf("]}");
    }
    printf("\n  ]\n}\n");
}

/* ---- The screen ------------------------------------------------------------------------------ */

static const char *sign_of(enum mark mark)
{
    /* The second set is for terminals without the characters of the first. */
    static const char *const signs[2][3] = {{"\u2713", "\u2717", "\u00b7"}, {"+", "x", "."}};
    bool plain = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    return signs[plain][mark];
}

static void print_finding(const struct finding *finding, bool verbose)
{
    printf("  %s ", sign_of(finding->mark));
    words_print(stdout, finding->label, INDENT);
    if (*finding->text && (verbose || finding->mark != MARK_GOOD)) {
        printf("%*s", TEXT_INDENT, "");
        words_print(stdout, finding->text, TEXT_INDENT);
    }
    for (size_t i = 0; verbose && i < finding->fact_count; i++) {
        if (!*finding->facts[i].value)
            continue;
        int width = printf("%*s%s: ", TEXT_INDENT, "", finding->facts[i].key);
        words_print(stdout, finding->facts[i].value, width);
    }
}

static void print_sum(const struct report *report)
{
    printf("grinterop %s: ", gr_library_version());
    if (!*report->driver)
        printf("nothing works here, since no CUDA driver starts\n");
    else if (!report->working)
        printf("no way between graphics and CUDA works here\n");
    else
        printf("%d of %d ways between graphics and CUDA work here%s\n", report->working,
               report->paths, report->software ? ", on the software CUDA driver" : "");
    if (report->probes)
        printf("%d of %d probes exchanged their bytes; %d unexpected failures\n", report->right,
               report->probes, report->failed);
}

void report_print_screen(const struct report *report, bool verbose)
{
    setlocale(LC_CTYPE, "");
    print_sum(report);
    for (int s = 0; s < SECTIONS; s++) {
        bool titled = false;
        for (size_t i = 0; i < report->sections[s].count; i++) {
            const struct finding *finding = &report->sections[s].items[i];
            if (finding->detail && !verbose)
                continue;
            if (!titled)
                printf("\n%s\n", sections[s].title);
            titled = true;
            print_finding(finding, verbose);
        }
    }
    if (!verbose)
        printf("\n--verbose shows more, --json prints it for programs.\n");
}
