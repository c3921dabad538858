/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#version 450
layout(location = 0) in vec2 place;
layout(location = 1) in float slope;
layout(location = 0) out vec4 colour;
layout(binding = 0) uniform sampler2D image;
void main()
{
    vec3 bottom = texture(image, place - 0.03 * slope * vec2(0.6, 0.8)).rgb;
    float glint = smoothstep(0.2, 0.7, slope);
    colour = vec4(bottom * (0.8 + 0.6 * slope) + 0.4 * glint, 1.0);
}
