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
    json_whole(json, "uncertain_ns_at_start", c->before.uncertain);
    json_whole(json, "uncertain_ns_at_end", c->after.uncertain);
    json_whole(json, "step_ns", l->step[side]);
    json_whole(json, "drift_ns", c->after.ahead - c->before.ahead);
    json_whole(json, "run_ns", c->after.at - c->before.at);
    json_end_object(json);
}

static void write_clocks(struct json *json, const struct latency *l)
{
    json_object(json, "clocks");
    write_clock(json, l, LATENCY_CUDA, "cuda");
    write_clock(json, l, LATENCY_OPENGL, "opengl");
    write_clock(json, l, LATENCY_VULKAN, "vulkan");
    json_truth(json, "opengl_and_cuda_are_one", l->one_clock);
    json_whole(json, "opengl_ahead_of_cuda_ns",
               l->whole_run[LATENCY_OPENGL].after.ahead - l->whole_run[LATENCY_CUDA].after.ahead);
    json_end_object(json);
}

static void write_times(struct json *json, const char *name, const struct latency_times *t)
{
    json_object(json, name);
    json_number(json, "p50", t->p50);
    json_number(json, "p99", t->p99);
    json_number(json, "p99.9", t->p999);
    json_number(json, "worst", t->worst);
    json_end_object(json);
}

static void write_cell(struct json *json, double rate, const struct latency_cell *c)
{
    json_object(json, NULL);
    json_number(json, "rate", rate);
    json_truth(json, "measured", c->measured);
    if (c->measured) {
        json_whole(json, "frames", c->frames);
        json_whole(json, "late", c->late);
        json_whole(json, "held_up", c->held);
        json_whole(json, "before_kernels_end", c->impossible);
        json_whole(json, "wrong_pixels", c->wrong);
        write_times(json, "kernel_end_to_drawn_us", &c->hand_over);
        write_times(json, "begin_to_kernel_us", &c->wait);
        write_times(json, "begin_to_drawn_us", &c->whole);
    }
    json_text(json, "reason", c->reason);
    json_end_object(json);
}

static void write_rows(struct json *json, const struct latency_table *table)
{
    json_list(json, "rows");
    for (size_t i = 0; i < table->rows; i++) {
        json_object(json, NULL);
        json_text(json, "row", table->row[i]->key);
        json_text(json, "label", table->row[i]->label);
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
    json_whole(json, "cuda_device", latency->frames.on.ordinal);
    json_whole(json, "gl_device", latency->frames.gl_ordinal);
    json_number(json, "seconds", latency->seconds);
    write_clocks(json, latency);
    write_rows(json, table);
}
