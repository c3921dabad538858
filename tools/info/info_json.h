/* SPDX-License-Identifier: Apache-2.0 */
/* The report for programs: grinterop-info.schema.json says its form. */
#ifndef INFO_JSON_H
#define INFO_JSON_H

#include "tools/info/collect.h"

void json_print(const struct report *report);

#endif
