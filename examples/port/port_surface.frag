/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The light on the sheet: a warm sun, a cool sky, light reflected by the ground, and a highlight.
 * The shader uses only sums, products, quotients and square roots, for the reason given in the
 * vertex shader.
 */
#version 450
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 upwards;
layout(location = 2) in vec2 texel;

layout(std140, binding = 0) uniform View {
    vec4 camera[4];
    vec4 eye;
    vec4 light;
    vec4 scale;
};
layout(binding = 1) uniform sampler2D paper;

layout(location = 0) out vec4 pixel;

float product(vec3 a, vec3 b)
{
    precise float sum = a.x * b.x;
    sum = sum + a.y * b.y;
    sum = sum + a.z * b.z;
    return sum;
}

vec3 unit(vec3 v)
{
    precise float shorter = 1.0 / sqrt(product(v, v));
    precise vec3 scaled = v * shorter;
    return scaled;
}

void main()
{
    precise vec3 ink = texture(paper, texel).rgb;
    ink = ink * ink;
    vec3 n = unit(upwards);
    if (!gl_FrontFacing) {
        n = -n;
        ink = vec3(0.30, 0.27, 0.23);
    }
    vec3 to_eye = unit(eye.xyz - place);
    float sun = max(product(n, light.xyz), 0.0);
    float shine = max(product(n, unit(light.xyz + to_eye)), 0.0);
    precise float edge = 1.0 - max(product(n, to_eye), 0.0);
    edge = edge * edge;
    edge = edge * edge;
    for (int i = 0; i < 6; i++) {
        precise float squared = shine * shine;
        shine = squared;
    }

    precise float up = 0.5 + 0.5 * n.y;
    precise vec3 sky = vec3(0.10, 0.08, 0.07) + up * vec3(0.20, 0.26, 0.36);
    precise vec3 arriving = sky + sun * vec3(1.85, 1.66, 1.38);
    precise vec3 colour = ink * arriving;
    colour = colour + (shine * sun) * vec3(0.42, 0.39, 0.34);
    colour = colour + edge * vec3(0.07, 0.09, 0.13);
    precise vec3 soft = vec3(1.0) / (vec3(1.0) + 0.45 * colour);
    colour = colour * soft;
    pixel = vec4(sqrt(colour), 1.0);
}
