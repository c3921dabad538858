/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The picture that CUDA reads in bench_frames: one triangle that covers it. OpenGL compiles this
 * text; Vulkan uses it as SPIR-V.
 */
#version 450
#ifdef VULKAN
#define NUMBER gl_VertexIndex
#else
#define NUMBER gl_VertexID
#endif

void main()
{
    vec2 at = vec2(NUMBER == 1 ? 3.0 : -1.0, NUMBER == 2 ? 3.0 : -1.0);
    gl_Position = vec4(at, 0.5, 1.0);
}
