/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenGL has to do with the pictures: a grid of vertices drawn as one lit surface before a
 * background. The vertices themselves are CUDA's: it fills scene.vertex_buffer.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct scene {
    int columns, rows;
    unsigned vertex_buffer; /* OpenGL's name of it: columns * rows struct vertex, row by row */
    unsigned index_buffer;
    unsigned surface_array, empty_array;
    unsigned surface_program, background_program;
};

/* Where one looks from, and where the light comes from (a direction of any length). */
struct view {
    float eye[3], target[3];
    float light[3];
    float angle; /* of view, vertically, in degrees */
};

/* False after an error, which has been printed. Either way scene_free() cleans up. */
bool scene_init(struct scene *scene, int columns, int rows);

/* Draws into the framebuffer that is bound, which has that ratio of width to height. */
void scene_draw(const struct scene *scene, const struct view *view, float aspect);

/* The same from another buffer of such vertices: a vertex array, which the caller deletes. */
unsigned scene_array(const struct scene *scene, unsigned vertex_buffer);
void scene_draw_array(const struct scene *scene, unsigned array, const struct view *view,
                      float aspect);

/* Zeros are fine. */
void scene_free(struct scene *scene);

#endif
