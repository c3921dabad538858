/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns a shared image into a tile of the picture of pingpong. Depending on the queue, the tile is
 * drawn, computed or copied. The bytes are the same.
 */
#ifndef PINGPONG_DRAW_H
#define PINGPONG_DRAW_H

#include "pingpong_vk.h"

/* False after an error, which has been printed. pingpong_draw_free() cleans up in any case. */
bool pingpong_draw_init(struct pingpong_vk *vk);
void pingpong_draw_free(struct pingpong_vk *vk);

/* Records the commands for a tile, whose image is in VK_IMAGE_LAYOUT_GENERAL. */
void pingpong_draw_record(const struct pingpong_vk *vk, VkCommandBuffer commands, int tile);

#endif
