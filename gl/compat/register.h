/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registrations of compat.h, which maps may have to replace. */
#ifndef GR_GL_COMPAT_REGISTER_H
#define GR_GL_COMPAT_REGISTER_H

#include "gl/compat/handle.h"

/*
 * Recreates a resource before a map if it is needed: with a transport that copies, if the resource
 * allows one direction only and the map flags need both. After an error, which is recorded, the
 * resource is unchanged.
 */
gr_status compat_widen(struct compat_handle *handle);

#endif
