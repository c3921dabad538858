/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A soft glow, with noise of half a step of 8 bit colour to prevent banding. */
#version 450
layout(std140, binding = 0) uniform View {
    vec4 camera[4];
    vec4 eye;
    vec4 light;
    vec4 scale; /* maps pixels to -1 to 1: multiply by xy and subtract zw */
};

layout(location = 0) out vec4 pixel;

void main()
{
    precise float sum = 0.06711056 * gl_FragCoord.x;
    sum = sum + 0.00583715 * gl_FragCoord.y;
    precise float noise = 52.9829189 * fract(sum);
    noise = fract(noise) - 0.5;

    precise vec2 place = gl_FragCoord.xy * scale.xy;
    place = place - scale.zw;
    precise float far = place.x * place.x;
    far = far + place.y * place.y;
    precise float glow = 1.0 / (1.0 + 1.9 * far);
    precise vec3 colour = vec3(0.052, 0.056, 0.074) + glow * vec3(0.190, 0.172, 0.180);
    colour = colour + (1.0 / 255.0) * vec3(noise);
    pixel = vec4(colour, 1.0);
}
