/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of the parts that this build leaves out. Each fails, and its message names the
 * remedy. gl/memory/without_vulkan.c has those of OpenGL.
 */
#include <grinterop/share.h>
#include <grinterop/tensor.h>

#include "lib/base/error.h"
#include "lib/ring/ring.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Defines a function that returns `result`: it fails if `check` fails, or by a message. */
#define REFUSE(type, name, arguments, check, result, message)                                      \
    type name arguments                                                                            \
    {                                                                                              \
        GR_CALL();                                                                                 \
        if ((check) == GR_OK)                                                                      \
            gr_fail(GR_ERR_UNSUPPORTED, message);                                                  \
        return result;                                                                             \
    }

#ifdef GR_WITHOUT_DLPACK
#define NO_DLPACK                                                                                  \
    "This grinterop was built without DLPack. Build it with configure --with-dlpack=DIR, the "     \
    "folder that contains dlpack/dlpack.h, or by ./bootstrap."

static gr_status check_given(const void *tensor)
{
    return tensor ? GR_OK : gr_fail(GR_ERR_INVALID_VALUE, "The tensor is NULL.");
}

REFUSE(void *, gr_tensor_to_dlpack, (gr_tensor * tensor, gr_dlpack form, CUstream consumer),
       check_given(tensor), NULL, NO_DLPACK)
REFUSE(gr_tensor *, gr_tensor_from_dlpack, (void *managed, gr_dlpack form, CUstream ready_on),
       check_given(managed), NULL, NO_DLPACK)
#endif

#ifdef _WIN32
#define NO_SOCKETS                                                                                 \
    "Sharing with another process needs file descriptors over Unix sockets, which Windows does "   \
    "not have. Import a handle of the memory there, by gr_from_external_memory()."
#define NO_DESCRIPTORS                                                                             \
    "Windows has no descriptors for polling a ring: use an acquire with a timeout."

REFUSE(gr_status, gr_resource_send,
       (int socket, gr_resource *resource, const void *data, size_t size, unsigned timeout_ms),
       GR_OK, GR_ERR_UNSUPPORTED, NO_SOCKETS)
REFUSE(gr_resource *, gr_resource_receive,
       (int socket, void *data, size_t room, size_t *size, unsigned timeout_ms), GR_OK, NULL,
       NO_SOCKETS)
REFUSE(gr_status, gr_ring_send,
       (int socket, gr_ring *ring, gr_ring_role role, const void *data, size_t size,
        unsigned timeout_ms),
       GR_OK, GR_ERR_UNSUPPORTED, NO_SOCKETS)
REFUSE(gr_ring *, gr_ring_receive,
       (int socket, void *data, size_t room, size_t *size, unsigned timeout_ms), GR_OK, NULL,
       NO_SOCKETS)

static gr_status check_ring(const gr_ring *ring, gr_ring_role role)
{
    GR_TRY(gr_ring_check(ring));
    return gr_ring_check_role(role);
}

REFUSE(int, gr_ring_descriptor, (gr_ring * ring, gr_ring_role role), check_ring(ring, role), -1,
       NO_DESCRIPTORS)

void gr_share_set_interrupt(bool (*function)(void *user), void *user)
{
}
void gr_ring_update_pollers(gr_ring *ring)
{
}
void gr_ring_end_descriptors(gr_ring *ring)
{
}
#endif
