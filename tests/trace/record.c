/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The text of the calls; see record.h. */
#define _GNU_SOURCE
#include "record.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

#define MOST_TEXT 65536

struct text {
    char bytes[MOST_TEXT];
    size_t length;
};

static void append(struct text *text, const char *what)
{
    const size_t size = strlen(what);
    if (text->length + size >= MOST_TEXT) {
        fputs("the text of the calls is too long\n", stderr);
        abort();
    }
    memcpy(text->bytes + text->length, what, size + 1);
    text->length += size;
}

static void clear(struct text *text)
{
    text->length = 0;
    text->bytes[0] = '\0';
}

static char line[4096];
static size_t line_length;

void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line + line_length, sizeof(line) - line_length, format, arguments);
    va_end(arguments);
    if (size > 0)
        line_length += (size_t)size;
    if (line_length >= sizeof(line))
        line_length = sizeof(line) - 1;
}

/* ---- Objects --------------------------------------------------------------------------------- */

#define MOST_OBJECTS 1024

static struct object {
    const char *kind;
    uint64_t handle; /* 0: it has ended */
} objects[MOST_OBJECTS];
static size_t object_count;
static uint64_t first_value;
static bool has_value;

static bool is_of(const struct object *object, const char *kind)
{
    return strcmp(object->kind, kind) == 0;
}

/* A new object takes the first number whose object has ended. */
static unsigned number_of(const char *kind, uint64_t handle)
{
    struct object *free_one = NULL;
    unsigned number = 0, free_number = 0;
    for (struct object *one = objects; one < objects + object_count; one++) {
        if (!is_of(one, kind))
            continue;
        number++;
        if (one->handle == handle)
            return number;
        if (!one->handle && !free_one) {
            free_one = one;
            free_number = number;
        }
    }
    if (!free_one && object_count < MOST_OBJECTS) {
        free_one = &objects[object_count++];
        free_number = number + 1;
    }
    if (free_one)
        *free_one = (struct object){kind, handle};
    return free_number;
}

void put_object(const char *kind, uint64_t handle)
{
    if (handle)
        put(" %s%u", kind, number_of(kind, handle));
    else
        put(" no-%s", kind);
}

void forget_object(const char *kind, uint64_t handle)
{
    for (struct object *one = objects; one < objects + object_count; one++)
        if (one->handle == handle && is_of(one, kind))
            one->handle = 0;
}

void forget_objects(const char *kind)
{
    for (struct object *one = objects; one < objects + object_count; one++)
        if (is_of(one, kind))
            one->handle = 0;
}

void put_value(uint64_t value)
{
    if (!has_value)
        first_value = value;
    has_value = true;
    put(" value=%+lld", (long long)(value - first_value));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

#define MOST_OTHERS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t recorder;
static bool is_on;
static unsigned long calls;

/* The section: its name, and lines of which the last one may be repeated. */
static char name[80], last_line[4096];
static struct text section;
static size_t last_at;
static unsigned long repeated;
static char *others[MOST_OTHERS]; /* the lines of other threads */
static size_t other_count;

/* A line that repeats the one before only changes the count at its end. */
static void add_line(const char *what)
{
    char count[32] = "";
    repeated = section.length && strcmp(what, last_line) == 0 ? repeated + 1 : 1;
    if (repeated > 1)
        section.length = last_at;
    last_at = section.length;
    snprintf(last_line, sizeof(last_line), "%s", what);
    if (repeated > 1)
        snprintf(count, sizeof(count), " (%lu times)", repeated);
    append(&section, what);
    append(&section, count);
    append(&section, "\n");
}

static void (*finish)(const struct call_seen *query);

void record_before_queries(void (*function)(const struct call_seen *query))
{
    finish = function;
}

static bool is_query(const char *call)
{
    return strcmp(call, "cuEventQuery") == 0 || strcmp(call, "vkGetSemaphoreCounterValue") == 0;
}

/* Only the thread that records uses is_on. */
static void record(const struct call_seen *call)
{
    const bool is_here = pthread_equal(pthread_self(), recorder);
    if (is_here && is_on && finish && is_query(call->name)) {
        is_on = false;
        finish(call);
        is_on = true;
    }
    pthread_mutex_lock(&lock);
    line_length = 0;
    line[0] = '\0';
    if ((!is_here || is_on) && put_call(call, is_here)) {
        calls++;
        if (is_here)
            add_line(line);
        else if (other_count < MOST_OTHERS)
            others[other_count++] = strdup(line);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- Sections -------------------------------------------------------------------------------- */

#define MOST_SECTIONS 128

static struct text text;
static struct {
    char name[80];
    char *lines;
} sections[MOST_SECTIONS];
static size_t section_count;

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of other threads have no order. They come last, sorted. */
static void add_others(void)
{
    qsort(others, other_count, sizeof(*others), compare_lines);
    for (size_t i = 0; i < other_count; i++) {
        char marked[4200];
        snprintf(marked, sizeof(marked), "on another thread: %s", others[i]);
        add_line(marked);
        free(others[i]);
    }
    other_count = 0;
}

static size_t line_size(const char *at)
{
    const size_t size = strcspn(at, "\n");
    return size + (at[size] == '\n');
}

/*
 * The number of lines of `b` that differ from those of `a`, which has as many; -1: it has more or
 * fewer. Appends them to `to` unless it is NULL.
 */
static int differing_lines(const char *a, const char *b, struct text *to)
{
    int differing = 0;
    for (; *a && *b; a += line_size(a), b += line_size(b)) {
        const size_t size = line_size(b);
        if (size == line_size(a) && memcmp(a, b, size) == 0)
            continue;
        differing++;
        if (to) {
            char copy[sizeof(line)];
            snprintf(copy, sizeof(copy), "%.*s", (int)size, b);
            append(to, copy);
        }
    }
    return *a || *b ? -1 : differing;
}

static int lines_of(const char *lines)
{
    int count = 0;
    for (; *lines; lines += line_size(lines))
        count++;
    return count;
}

static void keep_section(void)
{
    if (section_count == MOST_SECTIONS)
        return;
    snprintf(sections[section_count].name, sizeof(sections->name), "%s", name);
    sections[section_count++].lines = strdup(section.bytes);
}

/*
 * A section that is like an earlier one has only its other lines, if these are at most half of all:
 * most often a value of a semaphore.
 */
static void end_section(void)
{
    if (!name[0])
        return;
    add_others();
    int fewest = lines_of(section.bytes) / 2 + 1;
    size_t like = section_count;
    for (size_t i = 0; i < section_count; i++) {
        const int differing = differing_lines(sections[i].lines, section.bytes, NULL);
        if (differing >= 0 && differing < fewest) {
            fewest = differing;
            like = i;
        }
    }
    char title[256];
    if (!section.length)
        snprintf(title, sizeof(title), "[%s] no calls\n", name);
    else if (like == section_count)
        snprintf(title, sizeof(title), "[%s]\n", name);
    else
        snprintf(title, sizeof(title), "[%s] as [%s]%s\n", name, sections[like].name,
                 fewest ? ", but" : "");
    append(&text, title);
    if (section.length && like == section_count)
        append(&text, section.bytes);
    else if (section.length && fewest)
        differing_lines(sections[like].lines, section.bytes, &text);
    if (section.length && (like == section_count || fewest))
        keep_section();
    name[0] = '\0';
}

void record_kind(void)
{
    pthread_mutex_lock(&lock);
    recorder = pthread_self();
    object_count = 0;
    calls = 0;
    has_value = false;
    name[0] = '\0';
    clear(&text);
    while (section_count)
        free(sections[--section_count].lines);
    pthread_mutex_unlock(&lock);
    fault_calls_watch(record);
}

void record_operation(const char *operation)
{
    pthread_mutex_lock(&lock);
    end_section();
    snprintf(name, sizeof(name), "%s", operation);
    clear(&section);
    is_on = true;
    pthread_mutex_unlock(&lock);
}

void record_pause(void)
{
    is_on = false;
}

const char *record_text(void)
{
    fault_calls_watch(NULL);
    pthread_mutex_lock(&lock);
    end_section();
    pthread_mutex_unlock(&lock);
    return text.bytes;
}

unsigned long record_calls(void)
{
    return calls;
}
