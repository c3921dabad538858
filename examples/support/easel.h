/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture in a thin frame, standing on a mirror, seen from the side: what postprocess filters.
 */
#ifndef EASEL_H
#define EASEL_H

#include <stdbool.h>

#include "orbit.h"
#include "png_file.h"
#include "screen.h"

struct easel {
    unsigned program, texture;
    float half_width, half_height; /* of the picture in space */
    struct orbit orbit;            /* moves the camera; may be changed */
};

/*
 * Copies the picture; without pixels, it is the texture's storage alone. False after an error,
 * which has been printed; easel_free() cleans up.
 */
bool easel_init(struct easel *easel, const struct picture *picture);

/* Draws into the framebuffer that is bound, seen from `degrees` to the right of the front. */
void easel_draw(const struct easel *easel, const struct screen *screen, float aspect,
                float degrees);

/* Zeros are fine. */
void easel_free(struct easel *easel);

#endif
