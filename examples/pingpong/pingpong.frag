/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Draws the upper rows of a shared image as a tile. */
#version 450

layout(binding = 0) uniform sampler2D image;
layout(push_constant) uniform Tile {
    ivec2 origin;
};
layout(location = 0) out vec4 pixel;

void main()
{
    pixel = texelFetch(image, ivec2(gl_FragCoord.xy) - origin, 0);
}
