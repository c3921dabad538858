/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#version 450
layout(location = 0) in vec4 position;
layout(location = 0) out vec2 place;
layout(location = 1) out float slope;
const mat4 view = mat4(2.414, 0.0, 0.0, 0.0,
                       0.0, 1.654, 0.874, 0.729,
                       0.0, 1.759, -0.822, -0.685,
                       -1.207, -0.695, 0.960, 1.300);
void main()
{
    place = position.xy;
    slope = position.w;
    gl_Position = view * vec4(position.xyz, 1.0);
    /* z is from -1 to 1 in OpenGL, from 0 to 1 in Vulkan */
    gl_Position.z = 0.5 * (gl_Position.z + gl_Position.w);
}
