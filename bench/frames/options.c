/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Options of the programs that draw frames: devices, and meshes. */
#include <stdlib.h>
#include <string.h>

#include "bench/frames/frames.h"

static bool parse_device(const char *option, const char *text, int *ordinal)
{
    char *end;
    const long device = strtol(text, &end, 10);
    if (end == text || *end != '\0' || device < 0 || device > 1000) {
        fprintf(stderr, "--%s takes a number from 0 to 1000, not \"%s\".\n", option, text);
        return false;
    }
    *ordinal = (int)device;
    return true;
}

bool frames_parse_device(const char *text, void *into)
{
    (void)into;
    if (!parse_device("device", text, &scene.on.ordinal))
        return false;
    scene.gl_ordinal = scene.on.ordinal;
    return true;
}

bool frames_parse_gl_device(const char *text, void *into)
{
    (void)into;
    if (strcmp(text, "software") != 0)
        return parse_device("gl-device", text, &scene.gl_ordinal);
    scene.gl_ordinal = FRAMES_SOFTWARE_GL;
    return true;
}

bool frames_parse_meshes(const char *text, void *into)
{
    const char *from = text;
    char *end;
    (void)into;
    for (size_t count = 0; count < FRAMES_MESHES; from = end + 1) {
        double *mesh = &scene.meshes[count++];
        *mesh = strtod(from, &end);
        if (end == from || !(*mesh >= 2 && *mesh <= 4096))
            break;
        if (*end == '\0') {
            scene.mesh_count = count;
            return true;
        }
        if (*end != ',')
            break;
    }
    fprintf(stderr, "--meshes takes up to %d numbers from 2 to 4096, not \"%s\".\n", FRAMES_MESHES,
            text);
    return false;
}
