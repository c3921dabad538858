/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Parses GR_COMPAT, which selects the transports of a program that cannot be changed. */
#include "gl/compat/choose.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/machine.h"

static const struct {
    const char *name;
    unsigned bits;
} words[] = {
    {"any", GR_TRANSPORT_ANY},   {"copy", GR_TRANSPORT_COPY},     {"interop", GR_TRANSPORT_INTEROP},
    {"peer", GR_TRANSPORT_PEER}, {"shared", GR_TRANSPORT_SHARED},
};

static unsigned bits_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].name) == length && memcmp(words[i].name, word, length) == 0)
            return words[i].bits;
    return 0;
}

static gr_status refuse(const char *word, size_t length, const char *call)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    gr_status status = gr_fail(GR_ERR_INVALID_VALUE, call,
                               "GR_COMPAT names \"%.*s\", which is not a transport: use interop, "
                               "copy, peer, shared or any, or leave it unset for interop.",
                               (int)(length < 40 ? length : 40), word);
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "grinterop: %s\n", gr_last_error()->message);
    return status;
}

gr_status compat_transports(unsigned *transports, const char *call)
{
    const char *word = gr_machine_setting("GR_COMPAT");
    *transports = 0;
    for (; word && *word; word += strspn(word, ",| ")) {
        size_t length = strcspn(word, ",| ");
        unsigned bits = bits_of(word, length);
        if (length && !bits)
            return refuse(word, length, call);
        *transports |= bits;
        word += length;
    }
    return GR_OK;
}
