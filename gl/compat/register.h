/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Replaces the registration of a resource of compat.h, if a map needs this. */
#ifndef GR_GL_COMPAT_REGISTER_H
#define GR_GL_COMPAT_REGISTER_H

#include "gl/compat/handle.h"

/*
 * For transports that copy: if the resource was created to copy in only one direction and the map
 * flags need both, creates the resource again before the map. After an error, which is recorded,
 * the resource is unchanged.
 */
gr_status compat_widen(struct compat_handle *handle);

#endif
