/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The picture that CUDA reads in bench_frames: it has whole numbers, so that it is exact in every
 * frame and differs at each pixel. OpenGL compiles this text; Vulkan uses it as SPIR-V.
 */
#version 450
#ifdef VULKAN
layout(push_constant) uniform Frame
{
    float phase;
};
#else
uniform float phase;
#endif
layout(location = 0) out vec4 pixel;

void main()
{
    pixel = vec4(floor(gl_FragCoord.xy), floor(phase * 61.0 + 0.5), 1.0);
}
