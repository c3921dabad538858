/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How ripples draws: shaders, the texture that they read, and the image that is drawn to.
 */
#ifndef RIPPLES_PIPELINE_H
#define RIPPLES_PIPELINE_H

#include "vulkan.h"

/* The shaders in ripples.vert and ripples.frag, and `texture` as the fragment shader's image. */
void createPipeline(VkImageView texture);

/*
 * Around the commands that draw. `texture` was copied to; `target` is cleared before, and may be
 * copied from after.
 */
void beginDrawing(VkCommandBuffer commands, const Image &texture, const Image &target,
                  uint32_t side);
void endDrawing(VkCommandBuffer commands, const Image &target);

#endif
