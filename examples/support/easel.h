/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A picture in a thin frame, standing on a mirror, seen from the side. It is the input of
 * postprocess.
 */
#ifndef EASEL_H
#define EASEL_H

#include <stdbool.h>

#include "camera.h"
#include "png_file.h"
#include "screen.h"

struct easel {
    unsigned program, texture;
    float half_width, half_height; /* half the size of the picture in the scene */
    struct orbit orbit;            /* input that moves the camera; the caller may change it */
};

/*
 * Copies the picture. If the picture has no pixels, only allocates the texture. False after an
 * error, which has been printed; easel_free() cleans up.
 */
bool easel_init(struct easel *easel, const struct picture *picture);

/* Draws into the bound framebuffer, seen from `degrees` to the right of the front. */
void easel_draw(const struct easel *easel, const struct screen *screen, float aspect,
                float degrees);

/* Accepts a zeroed struct. */
void easel_free(struct easel *easel);

#endif
