/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The drawing of ripples: the shaders, the texture that they read, and the render target. */
#ifndef RIPPLES_PIPELINE_H
#define RIPPLES_PIPELINE_H

#include "vulkan.h"

/* Uses the shaders in ripples.vert and ripples.frag; the fragment shader reads `texture`. */
void createPipeline(VkImageView texture);

/*
 * These two functions enclose the draw commands. A copy must have written `texture`. `target` is
 * cleared first, and may be copied from afterwards.
 */
void beginDrawing(VkCommandBuffer commands, const Image &texture, const Image &target,
                  uint32_t side);
void endDrawing(VkCommandBuffer commands, const Image &target);

#endif
