/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The vertices of the sheet. OpenGL compiles this text; Vulkan uses it as SPIR-V. Sums are
 * `precise` and in separate steps, since two compilers may otherwise choose different orders.
 */
#version 450
layout(location = 0) in vec4 vertex_place;
layout(location = 1) in vec4 vertex_normal;

layout(std140, binding = 0) uniform View {
    vec4 camera[4];
    vec4 eye;
    vec4 light;
    vec4 scale;
};

layout(location = 0) out vec3 place;
layout(location = 1) out vec3 upwards;
layout(location = 2) out vec2 texel;

void main()
{
    precise vec4 seen = camera[0] * vertex_place.x;
    seen = seen + camera[1] * vertex_place.y;
    seen = seen + camera[2] * vertex_place.z;
    seen = seen + camera[3];
    gl_Position = seen;
    place = vertex_place.xyz;
    upwards = vertex_normal.xyz;
    texel = vec2(vertex_place.w, vertex_normal.w);
}
