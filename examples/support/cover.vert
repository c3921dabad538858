/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One triangle, of which the viewport cuts out the middle. How it is cut is each driver's own, so that nothing is
 * interpolated over it: gl_FragCoord says where a pixel is.
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
