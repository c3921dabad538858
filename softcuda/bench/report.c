/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tables that bench_softcuda prints, and the JSON file that it writes. */
#include "softcuda/bench/softcuda.h"

void soft_heading(const char *text)
{
    printf("\n%s\n", text);
    fflush(stdout);
}

static void write_row(struct json *json, const char *group, const char *name,
                      const struct soft_way *ways, unsigned count, const struct soft_time *times,
                      double each)
{
    json_object(json, NULL);
    json_members(json, "group %s row %s each %g", group, name, each);
    json_truth(json, "measured", true);
    json_list(json, "ways");
    for (unsigned w = 0; w < count; w++) {
        json_object(json, NULL);
        json_members(json, "way %s", ways[w].name);
        json_spread(json, "us", times[w].us);
        json_spread(json, "speed", times[w].speed);
        json_number(json, "ns_each", times[w].us.median * 1e3 / each);
        json_end_object(json);
    }
    json_end_list(json);
    json_end_object(json);
}

void soft_report(struct soft_bench *bench, const char *group, const char *name,
                 const struct soft_way *ways, unsigned count, const struct soft_time *times,
                 double each, const char *unit)
{
    char us[128];
    for (unsigned w = 0; w < count; w++) {
        printf("  %-26s %-16s %28s us %9.3f ns/%s", w == 0 ? name : "", ways[w].name,
               bench_spread_text(us, times[w].us), times[w].us.median * 1e3 / each, unit);
        if (w > 0)
            printf(" %7.2f [%.2f %.2f]", times[w].speed.median, times[w].speed.q1,
                   times[w].speed.q3);
        putchar('\n');
    }
    fflush(stdout);
    if (bench->json)
        write_row(bench->json, group, name, ways, count, times, each);
}
