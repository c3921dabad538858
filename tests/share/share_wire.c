/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages as sent on the socket; see share_wire.h. */
#define _GNU_SOURCE
#include "share_wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/fd_message.h"

struct wire wire_take(int socket)
{
    struct wire wire = {.fd_count = WIRE_MOST_FDS};
    ssize_t size = fd_receive(socket, wire.bytes, sizeof(wire.bytes), wire.fds, &wire.fd_count, 0);
    ck_assert_int_gt(size, WIRE_HEADER);
    ck_assert_uint_gt(wire.fd_count, 0);
    wire.size = (size_t)size;
    return wire;
}

bool wire_try(int socket, const struct wire *wire, int flags)
{
    return fd_send(socket, wire->bytes, wire->size, wire->fds, wire->fd_count, flags) ==
           (ssize_t)wire->size;
}

void wire_put(int socket, const struct wire *wire)
{
    ck_assert(wire_try(socket, wire, 0));
}

void wire_close(struct wire *wire)
{
    for (size_t i = 0; i < wire->fd_count; i++)
        close(wire->fds[i]);
}

void wire_change(struct wire *wire, size_t at, unsigned bytes, unsigned long long value)
{
    for (unsigned i = 0; i < bytes; i++)
        wire->bytes[at + i] = (unsigned char)(value >> 8 * i);
}

int wire_file(size_t size, int seals)
{
    int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

void wire_assert_refused(gr_status status, const char *text, const char *what, int fds_before)
{
    const char *wrong = error_mismatch(status, -1, text);
    ck_assert_msg(!wrong, "%s: %s", what, wrong);
    wire_assert_closed(what, fds_before);
}

void wire_assert_closed(const char *what, int fds_before)
{
    ck_assert_msg(open_fds_become(fds_before), "%s: %d descriptors are open, not %d", what,
                  open_fds(), fds_before);
}
