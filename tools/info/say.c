/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/info/say.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <grinterop/gr.h>

enum { TEXT_ROOM = 2048 };

static FILE *lines;

bool say_begin(void)
{
    int to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    lines = to >= 0 ? fdopen(to, "w") : NULL;
    return lines && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

void say_end(void)
{
    fputs(SAY_END, lines);
    fflush(lines);
}

void say_step(const char *what)
{
    fprintf(lines, SAY_STEP "%s\n", what);
    fflush(lines);
}

/* Tabs part the fields, and a line's end the findings: neither may come from a driver. */
static void put(const char *text)
{
    for (; *text; text++)
        putc((unsigned char)*text < ' ' ? ' ' : *text, lines);
}

static void put_finding(char level, const char *id, enum mark mark, const char *label,
                        const char *format, va_list arguments)
{
    char text[TEXT_ROOM];
    vsnprintf(text, sizeof(text), format, arguments);
    fprintf(lines, "finding\t%c\t%c\t", "+-."[mark], level);
    put(id);
    putc('\t', lines);
    put(label);
    putc('\t', lines);
    put(text);
    putc('\n', lines);
    fflush(lines);
}

void say(const char *id, enum mark mark, const char *label, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_finding('s', id, mark, label, format, arguments);
    va_end(arguments);
}

void say_detail(const char *id, enum mark mark, const char *label, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_finding('d', id, mark, label, format, arguments);
    va_end(arguments);
}

void say_fact(const char *key, const char *format, ...)
{
    char text[TEXT_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(lines, "fact\t%s\t", key);
    put(text);
    putc('\n', lines);
    fflush(lines);
}

void say_error(const char *id, const char *label)
{
    const gr_error *error = gr_last_error();
    say(id, MARK_BAD, label, "%s", error->message);
    say_fact("error", "%s", gr_status_name(error->status));
    if (error->code_name[0])
        say_fact("code", "%s", error->code_name);
}
