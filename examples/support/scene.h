/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL part of the pictures: a grid of vertices drawn as one lit surface in front of a
 * background. CUDA writes the vertices to scene.vertex_buffer.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct scene {
    int columns, rows;
    unsigned vertex_buffer; /* an OpenGL buffer of columns * rows struct vertex, row by row */
    unsigned index_buffer;
    unsigned surface_array, empty_array;
    unsigned surface_program, background_program;
};

/* The camera, and the direction of the light, which need not be normalised. */
struct view {
    float eye[3], target[3];
    float light[3];
    float angle; /* the vertical angle of view, in degrees */
};

extern const struct view scene_view; /* the usual view of the surface */

/* False after an error, which has been printed. scene_free() cleans up in any case. */
bool scene_init(struct scene *scene, int columns, int rows);

/*
 * Draws the scene to the bound framebuffer, whose aspect ratio is given. `array` is `surface_array`
 * or one of scene_array(), which draws another vertex buffer. The caller deletes that array.
 */
void scene_draw(const struct scene *scene, unsigned array, const struct view *view, float aspect);
unsigned scene_array(const struct scene *scene, unsigned vertex_buffer);

/* Accepts a zeroed struct. */
void scene_free(struct scene *scene);

#endif
