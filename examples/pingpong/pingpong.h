/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The layout of the images that pingpong and its kernel share. */
#ifndef PINGPONG_H
#define PINGPONG_H

/*
 * A shared image is a tile of the picture with two more rows below. CUDA writes a code of the frame
 * to the first of these rows, and Vulkan copies it to the second. CUDA reads the second row when it
 * gets the image back.
 */
enum {
    TILE_WIDTH = 232,
    TILE_HEIGHT = 172,
    SENT_ROW = TILE_HEIGHT,
    RETURNED_ROW,
    IMAGE_HEIGHT,
};

/* The picture has this many tiles, each with a margin. */
enum { TILES_ACROSS = 8, TILES_DOWN = 6, TILES = TILES_ACROSS * TILES_DOWN, MARGIN = 4 };

#endif
