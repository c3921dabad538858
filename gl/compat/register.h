/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registrations of compat.h, which maps may have to renew. */
#ifndef GR_GL_COMPAT_REGISTER_H
#define GR_GL_COMPAT_REGISTER_H

#include "gl/compat/handle.h"

/*
 * Called before a map. With a transport that copies, a resource for one direction is recreated if
 * the map flags need more. After an error, which is recorded, it is unchanged.
 */
gr_status compat_widen(struct compat_handle *handle);

#endif
