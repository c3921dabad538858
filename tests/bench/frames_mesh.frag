/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_frames' points. Nothing comes from the vertex but its place, so that a point costs little.
 */
#version 450
layout(location = 0) out vec4 pixel;

void main()
{
    pixel = vec4(0.9, gl_FragCoord.xy / 512.0, 1.0);
}
