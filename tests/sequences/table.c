/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of all entries, and the random choice of an entry and its arguments. */
#include "calls.h"

#include <string.h>

/* All entries. One without a function begins a theme. */
static const struct entry table[] = {
#define THEME(theme)                        {#theme, "", 0, NULL, false},
#define CALL(name, weight, format)          {#name, format, weight, run_##name, false},
#define SOFTWARE_CALL(name, weight, format) {#name, format, weight, run_##name, true},
#define STEP(name, weight, format)          CALL(name, weight, format)
#define SOFTWARE_STEP(name, weight, format) SOFTWARE_CALL(name, weight, format)
#include "calls.def"
};
#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

static const struct entry *all[TABLE_SIZE]; /* without themes; built before threads start */
static int count;
static unsigned weights;

/* The first entry of each theme, and the sum of its weights. */
static struct {
    int first;
    unsigned weights;
} themes[TABLE_SIZE];
static unsigned theme_count;

void entries_collect(void)
{
    for (const struct entry *e = table; e < table + TABLE_SIZE; e++) {
        if (!e->run) {
            themes[theme_count++].first = count;
            continue;
        }
        all[count++] = e;
        themes[theme_count - 1].weights += e->weight;
        weights += e->weight;
    }
}

const struct entry *entry_at(int number)
{
    return number < count ? all[number] : NULL;
}

int entry_named(const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(all[i]->name, name) == 0)
            return i;
    return -1;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Whether a call with that argument letter is likely to succeed with the resource. */
static bool suits_resource(const struct world *w, const struct resource *r, char letter)
{
    if (r->life != LIVE)
        return false;
    bool here = is_here(w, r) && !r->gone;
    return letter == 'r' ? w->loose || here
                         : here && !r->mapped && !r->closed && (!r->ring || w->loose);
}

static bool suits_submit(const struct world *w, const struct resource *r)
{
    if (r->life != LIVE || r->mapped || r->closed || r->begun)
        return false;
    return w->loose || r->object->context == ANY_CONTEXT;
}

/* Whether a call with that argument letter is likely to succeed with the buffer. */
static bool suits_buffer(const struct world *w, const struct buffer *b, char letter)
{
    if (b->life != LIVE)
        return false;
    if (letter == 'j')
        return b->resource->image && b->resource->mapped == b && !b->stream_ended;
    return w->loose || is_here(w, b->resource);
}

static bool suits(const struct world *w, int at, char letter)
{
    switch (letter) {
    case 'r':
    case 'u':
        return suits_resource(w, &w->resources[at], letter);
    case 'b':
    case 'j':
        return suits_buffer(w, &w->buffers[at], letter);
    case 't':
        return w->tensors[at].life == LIVE;
    case 'v':
        return suits_submit(w, &w->resources[at]);
    case 'p':
    case 'P':
        return (w->rings[at].life == LIVE) == (letter == 'p');
    case 'y':
        return suits_resource(w, &w->resources[at], 'u') && !w->resources[at].ring &&
               w->resources[at].object->context != ANY_CONTEXT && !w->resources[at].image;
    case 'q':
        return w->submits[at].life == LIVE && (w->loose || !w->submits[at].made);
    case 'm':
        return w->semaphores[at].life == LIVE;
    case 'Q':
        return w->submits[at].life != LIVE;
    case 'M':
        return w->semaphores[at].life != LIVE;
    case 'z':
    case 'Z':
        return (w->devices[at].life == LIVE) == (letter == 'z');
    case 'x':
    case 'X':
        return (w->exports[at].life == LIVE) == (letter == 'x') &&
               (letter == 'X' || w->loose || !w->exports[at].taken);
    case 'R':
        return !w->resources[at].used;
    case 'B':
        return w->buffers[at].life != LIVE;
    case 'T':
        return !w->tensors[at].used;
    default:
        return true;
    }
}

static unsigned places_of(char letter)
{
    if (strchr("ruvyR", letter))
        return RESOURCES;
    if (strchr("pP", letter))
        return RINGS;
    if (strchr("zZ", letter))
        return DEVICES;
    if (strchr("xX", letter))
        return EXPORTS;
    if (strchr("qQ", letter))
        return SUBMITS;
    if (strchr("mM", letter))
        return SEMAPHORES;
    return strchr("bjB", letter) ? BUFFERS : TENSORS;
}

/*
 * Starts at a random place, and picks the first suitable place that the call does not use yet.
 * Rarely picks any place, or none.
 */
static int pick_place(struct world *w, const char *format, size_t i, const int *before)
{
    char letter = format[i];
    unsigned n = places_of(letter);
    int at = (int)pick(w, n);
    bool is_new = strchr("RBTQMPXZ", letter);
    if (!is_new && pick(w, 24) == 0)
        return -1;
    if (!is_new && pick(w, 16) == 0)
        return at;
    for (unsigned tried = 0; tried < n; tried++, at = (at + 1) % (int)n) {
        bool listed = false;
        for (size_t k = 0; k < i; k++)
            listed = listed || (format[k] == letter && before[k] == at);
        if (!listed && suits(w, at, letter))
            return at;
    }
    return at;
}

/* Picks a stream. Invalid streams are rare, so that a sequence makes progress. */
static int pick_stream(struct world *w, bool end)
{
    if (end && pick(w, 2))
        return STREAM_OF_MAP;
    if (pick(w, 8) == 0)
        return STREAMS + (int)pick(w, STREAM_CHOICES - STREAMS);
    return (int)pick(w, pick(w, 4) ? 2 : STREAMS);
}

static int pick_flags(struct world *w, bool image)
{
    static const int bad[] = {3, 16, 32, 19}, of_buffer[] = {4, 8, 5, 12},
                     of_image[] = {0, 1, 2, 4, 6};
    if (pick(w, 12) == 0)
        return bad[pick(w, 4)];
    if (image)
        return of_image[pick(w, 5)];
    return pick(w, 16) == 0 ? of_buffer[pick(w, 4)] : (int)pick(w, 3);
}

/* Picks an object, usually one of the current context. */
static int pick_object(struct world *w, unsigned first, unsigned count)
{
    unsigned at = pick(w, count);
    if (pick(w, 24) == 0)
        return -1;
    if (pick(w, 8) && w->gl < GL_CONTEXTS && w->objects[first + at].context != w->gl)
        at ^= 1;
    return (int)(first + at);
}

static int pick_argument(struct world *w, const char *format, size_t i, const int *before)
{
    char letter = format[i];
    switch (letter) {
    case 's':
    case 'e':
        return pick_stream(w, letter == 'e');
    case 'S':
        return (int)pick(w, STREAMS);
    case 'g':
        return pick_object(w, 0, GL_BUFFERS);
    case 'i':
        return pick_object(w, GL_BUFFERS, GL_IMAGES);
    case 'f':
    case 'F':
        return pick_flags(w, letter == 'F');
    case 'o':
        return (int)pick(w, 12) - 1;
    case 'c':
    case 'k':
        return (int)(pick(w, 8) ? pick(w, 2) : 2);
    case 'd':
        return (int)pick(w, 4);
    case 'n':
        return (int)pick(w, 256);
    default:
        return pick_place(w, format, i, before);
    }
}

/*
 * Picks an entry. Half of the calls are from one table, the theme of the sequence, so that calls
 * which are rare overall come together.
 */
static const struct entry *pick_entry(struct world *w, int *number)
{
    bool themed = pick(w, 2);
    unsigned at = pick(w, themed ? themes[w->theme].weights : weights);
    for (*number = themed ? themes[w->theme].first : 0; at >= entry_at(*number)->weight; ++*number)
        at -= entry_at(*number)->weight;
    return entry_at(*number);
}

void theme_pick(struct world *w)
{
    w->theme = (int)pick(w, theme_count);
}

void call_pick(struct world *w, struct call *call)
{
    const struct entry *entry = pick_entry(w, &call->entry);
    w->loose = pick(w, 8) == 0;
    for (size_t i = 0; i < MOST_ARGUMENTS; i++)
        call->argument[i] = 0;
    for (size_t i = 0; entry->format[i]; i++)
        call->argument[i] = pick_argument(w, entry->format, i, call->argument);
}
