/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/info/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <grinterop/gr.h>

#include "tools/words.h"

enum { INDENT = 4, TEXT_INDENT = 6 };

/* By mark; the second set is for terminals without these characters. */
static const char *const signs[2][3] = {{"\u2713", "\u2717", "\u00b7"}, {"+", "x", "."}};

static const char *sign_of(enum mark mark)
{
    bool plain = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    return signs[plain][mark];
}

static void print_facts(const struct finding *finding)
{
    for (size_t i = 0; i < finding->fact_count; i++) {
        if (!*finding->facts[i].value)
            continue;
        int width = printf("%*s%s: ", TEXT_INDENT, "", finding->facts[i].key);
        words_print(stdout, finding->facts[i].value, width);
    }
}

static void print_finding(const struct finding *finding, bool verbose)
{
    if (finding->detail && !verbose)
        return;
    printf("  %s ", sign_of(finding->mark));
    words_print(stdout, finding->label, INDENT);
    if (*finding->text && (verbose || finding->mark != MARK_GOOD)) {
        printf("%*s", TEXT_INDENT, "");
        words_print(stdout, finding->text, TEXT_INDENT);
    }
    if (verbose)
        print_facts(finding);
}

static bool has_any(const struct findings *findings, bool verbose)
{
    for (size_t i = 0; i < findings->count; i++)
        if (verbose || !findings->items[i].detail)
            return true;
    return false;
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
        printf("%d of %d probes exchanged their bytes; %d failed that should not\n", report->right,
               report->probes, report->failed);
}

void screen_print(const struct report *report, bool verbose)
{
    setlocale(LC_CTYPE, "");
    print_sum(report);
    for (int s = 0; s < SECTIONS; s++) {
        const struct findings *findings = &report->sections[s];
        if (!has_any(findings, verbose))
            continue;
        printf("\n%s\n", section_titles[s]);
        for (size_t i = 0; i < findings->count; i++)
            print_finding(&findings->items[i], verbose);
    }
    if (!verbose)
        printf("\n--verbose says more, --json says it for programs.\n");
}
