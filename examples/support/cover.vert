/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One triangle that is clipped to the viewport. Drivers clip differently, so nothing is
 * interpolated: use gl_FragCoord for the pixel position.
 */
#version 450
#ifdef VULKAN
#define VERTEX gl_VertexIndex
#else
#define VERTEX gl_VertexID
#endif

void main()
{
    gl_Position = vec4(VERTEX == 1 ? 3.0 : -1.0, VERTEX == 2 ? 3.0 : -1.0, 0.5, 1.0);
}
