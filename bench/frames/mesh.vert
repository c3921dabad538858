/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The points of bench_frames. OpenGL compiles this text; Vulkan uses it as SPIR-V. */
#version 450
layout(location = 0) in vec4 vertex;

void main()
{
    gl_Position = vec4(vertex.xy, 0.5, 1.0);
#ifdef VULKAN
    gl_PointSize = 1.0; /* the OpenGL default; OpenGL is faster if the shader does not set it */
#endif
}
