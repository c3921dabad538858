/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Covers the whole viewport, in OpenGL 3.3. */
#include "screen.h"

#include <epoxy/gl.h>

#include "shader.h"

/*
 * The vertex shader: one triangle that is clipped to the viewport, so no edge runs through the
 * picture.
 */
const char screen_vertex[] =
    "#version 330 core\n"
    "out vec2 place;\n"
    "void main() {\n"
    "    place = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
    "    gl_Position = vec4(place, 0.0, 1.0);\n"
    "}\n";

/* Noise of half a step of 8 bit colour, to prevent banding. */
static const char backdrop_fragment[] =
    "#version 330 core\n"
    "in vec2 place;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    vec3 colour = mix(vec3(0.030, 0.036, 0.066), vec3(0.094, 0.118, 0.180),\n"
    "                      smoothstep(-1.2, 1.3, place.y));\n"
    "    colour += vec3(0.060, 0.048, 0.052) * exp(-1.6 * dot(place, place));\n"
    "    float n = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));\n"
    "    pixel = vec4(colour + (n - 0.5) / 255.0, 1.0);\n"
    "}\n";

bool screen_init(struct screen *screen)
{
    *screen = (struct screen){0};
    glGenVertexArrays(1, &screen->empty_array);
    screen->backdrop = shader_program(screen_vertex, backdrop_fragment);
    return screen->backdrop != 0;
}

void screen_cover(const struct screen *screen, unsigned program)
{
    glDisable(GL_DEPTH_TEST);
    glUseProgram(program);
    glBindVertexArray(screen->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void screen_backdrop(const struct screen *screen)
{
    screen_cover(screen, screen->backdrop);
}

void screen_free(struct screen *screen)
{
    if (screen->empty_array == 0)
        return;
    glDeleteVertexArrays(1, &screen->empty_array);
    glDeleteProgram(screen->backdrop);
    *screen = (struct screen){0};
}
