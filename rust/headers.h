/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The headers for bindgen, with the inline functions as symbols: rust/make-sys. */
#define GR_INLINE
#include <grinterop/driver.h>
#include <grinterop/egl.h>
#include <grinterop/external.h>
#include <grinterop/framebuffer.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>
#include <grinterop/publish.h>
#include <grinterop/share.h>
#include <grinterop/vk.h>
