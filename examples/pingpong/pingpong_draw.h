/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a shared image becomes a tile of pingpong's picture: drawn, computed or copied, as the queue
 * can. The bytes are the same.
 */
#ifndef PINGPONG_DRAW_H
#define PINGPONG_DRAW_H

#include "pingpong_vk.h"

/* False after an error, which has been printed. Either way pingpong_draw_free() cleans up. */
bool pingpong_draw_init(struct pingpong_vk *vk);
void pingpong_draw_free(struct pingpong_vk *vk);

/* Records it for a tile, whose image is in VK_IMAGE_LAYOUT_GENERAL. */
void pingpong_draw_record(const struct pingpong_vk *vk, VkCommandBuffer commands, int tile);

#endif
