/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Every order of destruction: the contexts of a mapped resource, the resource and its buffer, or a
 * ring with a slot being written, are destroyed in each order, for each transport. Nothing may
 * crash or hang, each call must return the expected status, and at the end nothing may be open.
 * docs/guide.md has the table of results.
 *
 * One child process runs all orders of one kind (struct kind in death.h), each order with new
 * contexts. If a child fails, the next child continues with the following order.
 *
 * death_process.c covers the end of the process and of the library.
 */
#define _GNU_SOURCE
#include "death.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 24 /* the number of orders of DEATHS letters */

/* ---- Destroying the objects ------------------------------------------------------------------ */

/*
 * The expected result of gr_buffer_release(). Vulkan objects live as long as they are needed. The
 * end of a ring unmaps the slot that is being written.
 */
static gr_status expected(const struct life *life)
{
    const bool no_opengl = life->no_graphics && life->kind->transport != GR_TRANSPORT_EXTERNAL;
    return (life->no_cuda || no_opengl) && !life->ring ? GR_ERR_PARTIAL : GR_OK;
}

static void end_buffer(struct life *life)
{
    gr_status wanted = expected(life), got = gr_buffer_release(life->buffer);
    ck_assert_msg(got == wanted, "gr_buffer_release returned %s, not %s: %s", gr_status_name(got),
                  gr_status_name(wanted), error_text());
}

static void die(struct life *life, char death)
{
    switch (death) {
    case GRAPHICS:
        life_end_graphics(life);
        break;
    case CUDA:
        life_end_cuda(life);
        break;
    case RESOURCE:
        free_resources(life->resources, life->count);
        break;
    case BUFFER:
        end_buffer(life);
        break;
    default:
        gr_ring_free(life->ring);
        end_buffer(life);
    }
    gr_clear_error();
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* The order with this number: each digit selects the next one of the remaining letters. */
static void order_of(int number, const char *deaths, char order[DEATHS + 1])
{
    char left[DEATHS + 1];
    strcpy(left, deaths);
    for (int n = DEATHS; n > 0; n--) {
        int place = number % n;
        number /= n;
        order[DEATHS - n] = left[place];
        memmove(left + place, left + place + 1, strlen(left + place));
    }
    order[DEATHS] = '\0';
}

/* The parent sets the number of the first order that the child runs. */
#define ORDER_VARIABLE "DEATH_ORDER"

static const char *live_one(const struct kind *kind, int number)
{
    char order[DEATHS + 1];
    struct life life = {.kind = kind};
    order_of(number, kind->deaths, order);
    life_begin(&life);
    printf(ALIVE);
    fflush(stdout);
    if (!life.missing)
        for (int i = 0; i < DEATHS; i++)
            die(&life, order[i]);
    return life.missing;
}

CHILD(live_and_die)
{
    const struct kind *kind = &kinds[number_of(KIND_VARIABLE)];
    death_driver_load();
    for (int number = number_of(ORDER_VARIABLE); number < MOST; number++) {
        char order[DEATHS + 1];
        order_of(number, kind->deaths, order);
        printf("order %d, %s\n", number, order);
        fflush(stdout);
        const char *missing = live_one(kind, number);
        if (missing) {
            printf("missing: %s\n", missing);
            return 0;
        }
    }
    gr_log_add(GR_LOG_INFO, NULL, NULL); /* reports the objects that are open at the end */
    return 0;
}

GROUP("orders of death", add_bare_case)

#define OPEN_AT_END "the process ends with "
#define WORDS       600

/* The number of the last order that the child has begun; -1 if it has begun none. */
static int last_order(const char *text)
{
    int last = -1;
    for (const char *at = text; (at = strstr(at, "order ")); at++)
        last = atoi(at + strlen("order "));
    return last;
}

/*
 * Whether the child ended while it created the life of the next order. The NVIDIA driver 580
 * crashes in some imports after a CUDA context with imports was destroyed: docs/driver.md. The next
 * child then begins with that order.
 */
static bool died_in_an_import(const char *said, int first, int last)
{
    const char *order = said;
    for (const char *at = said; (at = strstr(at, "order ")); at++)
        order = at;
    return last > first && !strstr(order, ALIVE) && death_is_on_a_gpu();
}

/* The end of the output of the child, as much as fits into a message. */
static const char *last_words(const char *said)
{
    const char *open = strstr(said, OPEN_AT_END);
    size_t length = strlen(said);
    return open ? open : said + (length > WORDS ? length - WORDS : 0);
}

static void note_bad(char *bad, size_t size, const char *name, int status, const char *said)
{
    size_t used = strlen(bad);
    snprintf(bad + used, size - used, "\n%s ended with 0x%x: %.*s", name, (unsigned)status, WORDS,
             last_words(said));
}

TEST(each_order_of_destruction_is_safe, KINDS)
{
    static char said[65536], bad[3000];
    bad[0] = '\0';
    number_set(KIND_VARIABLE, _i);
    for (int next = 0, status = 1; next < MOST && status != 0;) {
        number_set(ORDER_VARIABLE, next);
        status = child_run("live_and_die", said, sizeof(said));
        const char *missing = strstr(said, "missing: ");
        if (status == 0 && missing)
            skip("%s: %.300s", kinds[_i].name, missing + strlen("missing: "));
        int last = last_order(said);
        bool again = status != 0 && died_in_an_import(said, next, last);
        if (!again && (status != 0 || strstr(said, OPEN_AT_END)))
            note_bad(bad, sizeof(bad), kinds[_i].name, status, said);
        next = last < next ? MOST : again ? last : last + 1;
    }
    ck_assert_msg(!bad[0], "%s", bad);
}
