/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations of compat.h, which maps may have to renew. */
#ifndef GR_GL_COMPAT_REGISTER_H
#define GR_GL_COMPAT_REGISTER_H

#include "gl/compat/handle.h"

/*
 * Before a map: with a transport that copies, a resource that was made for one direction is made
 * anew where the map flags ask for more. After an error, which is recorded, it is as it was.
 */
gr_status compat_widen(struct compat_handle *handle);

#endif
