/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/uuid_text.h"

#include <stdio.h>

void gr_uuid_text(const unsigned char uuid[16], char *text)
{
    char *at = text;
    at += sprintf(at, "GPU-");
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}
