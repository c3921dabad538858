/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes the clocks and the results as JSON. A cell that was not measured has a reason. */
#define _GNU_SOURCE
#include "bench/bench_json.h"
#include "bench/latency/latency.h"

static void write_clock(struct json *json, const struct latency *l, enum latency_side side,
                        const char *name)
{
    const struct latency_clock *c = &l->whole_run[side];
    if (!c->there)
        return;
    json_object(json, name);
    json_members(json,
                 "uncertain_ns_at_start %lld uncertain_ns_at_end %lld step_ns %lld drift_ns %lld "
                 "run_ns %lld",
                 (long long)c->before.uncertain, (long long)c->after.uncertain,
                 (long long)l->step[side], (long long)(c->after.ahead - c->before.ahead),
                 (long long)(c->after.at - c->before.at));
    json_end_object(json);
}

static void write_clocks(struct json *json, const struct latency *l)
{
    json_object(json, "clocks");
    write_clock(json, l, LATENCY_CUDA, "cuda");
    write_clock(json, l, LATENCY_OPENGL, "opengl");
    write_clock(json, l, LATENCY_VULKAN, "vulkan");
    json_truth(json, "opengl_and_cuda_are_one", l->one_clock);
    json_members(json, "opengl_ahead_of_cuda_ns %lld",
                 (long long)(l->whole_run[LATENCY_OPENGL].after.ahead -
                             l->whole_run[LATENCY_CUDA].after.ahead));
    json_end_object(json);
}

static void write_times(struct json *json, const char *name, const struct latency_times *t)
{
    json_object(json, name);
    json_members(json, "p50 %g p99 %g p99.9 %g worst %g", t->p50, t->p99, t->p999, t->worst);
    json_end_object(json);
}

static void write_cell(struct json *json, double rate, const struct latency_cell *c)
{
    json_object(json, NULL);
    json_members(json, "rate %g", rate);
    json_truth(json, "measured", c->measured);
    if (c->measured) {
        json_members(json, "frames %u late %u held_up %u before_kernels_end %u wrong_pixels %d",
                     c->frames, c->late, c->held, c->impossible, c->wrong);
        write_times(json, "kernel_end_to_drawn_us", &c->hand_over);
        write_times(json, "begin_to_kernel_us", &c->wait);
        write_times(json, "begin_to_drawn_us", &c->whole);
    }
    json_members(json, "reason %s", c->reason);
    json_end_object(json);
}

static void write_rows(struct json *json, const struct latency_table *table)
{
    json_list(json, "rows");
    for (size_t i = 0; i < table->rows; i++) {
        json_object(json, NULL);
        json_members(json, "row %s label %s", table->row[i]->key, table->row[i]->label);
        json_list(json, "rates");
        for (size_t r = 0; r < table->rates; r++)
            write_cell(json, table->rate[r], &table->cells[i][r]);
        json_end_list(json);
        json_end_object(json);
    }
    json_end_list(json);
}

void latency_write_json(struct json *json, const struct latency *latency,
                        const struct latency_table *table)
{
    json_members(json, "cuda_device %d gl_device %d seconds %g", latency->frames.on.ordinal,
                 latency->frames.gl_ordinal, latency->seconds);
    write_clocks(json, latency);
    write_rows(json, table);
}
