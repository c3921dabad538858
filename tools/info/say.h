/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finder's side: what it found goes to the standard output stream at once, a line each, so that
 * it is there even if the next call of a driver never comes back.
 */
#ifndef INFO_SAY_H
#define INFO_SAY_H

#include "lib/printf.h"
#include "tools/info/finding.h"

/* What ends the lines of a finder that came to its end. */
#define SAY_END "end\n"
/* What a line of say_step() begins with. */
#define SAY_STEP "step\t"

/*
 * Before anything is said: what drivers print goes to the standard error stream from here on, so
 * that it does not come between the lines.
 */
bool say_begin(void);

/* After all is said. */
void say_end(void);

/* Says what comes next, for the case that the driver does not come back from it. */
void say_step(const char *what);

/*
 * Says one finding. `label` names what it is about, with what a reader wants to know of it when it
 * works; the text, a format, is for those who ask, and says of what does not work why, and what to
 * do.
 */
void say(const char *id, enum mark mark, const char *label, const char *format, ...)
    GR_PRINTF(4, 5);

/* The same, for --verbose. */
void say_detail(const char *id, enum mark mark, const char *label, const char *format, ...)
    GR_PRINTF(4, 5);

/* A fact about what was said last. */
void say_fact(const char *key, const char *format, ...) GR_PRINTF(2, 3);

/* grinterop's last error as what does not work. */
void say_error(const char *id, const char *label);

#endif
