/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Implements handle_text.h. */
#define _GNU_SOURCE
#include "handle_text.h"
#include "tests/support/child_check.h"

#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_handle(const char *name, const void *handle)
{
    const unsigned char *bytes = handle;
    char text[2 * CU_IPC_HANDLE_SIZE + 1];
    for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    setenv(name, text, 1);
}

void take_handle(const char *name, void *handle)
{
    unsigned char *bytes = handle;
    const char *text = getenv(name);
    child_check(text && strlen(text) == 2 * CU_IPC_HANDLE_SIZE);
    for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++) {
        unsigned value = 0;
        child_check(sscanf(text + 2 * i, "%2x", &value) == 1);
        bytes[i] = (unsigned char)value;
    }
}
