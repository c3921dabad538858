/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The points of bench_frames. OpenGL compiles this text; Vulkan uses it as SPIR-V. */
#version 450
layout(location = 0) in vec4 vertex;

void main()
{
    gl_Position = vec4(vertex.xy, 0.5, 1.0);
#ifdef VULKAN
    gl_PointSize = 1.0; /* OpenGL uses 1 by default, and is faster if no shader sets the size. */
#endif
}
