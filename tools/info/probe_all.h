/* SPDX-License-Identifier: Apache-2.0 */
/* The ways that --probe tries: those that the finders before it said to work. */
#ifndef INFO_PROBE_ALL_H
#define INFO_PROBE_ALL_H

#include "tools/info/collect.h"

/* Each in a process of its own; adds what came of it, and its sum, to the report. */
void probe_all(const struct child_rules *rules, struct report *report);

#endif
