/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The points of bench_frames. The shader reads neither gl_FragCoord nor vertex outputs: on the
 * H200, reading gl_FragCoord makes points 2.5 times as expensive and hides the cost of the
 * hand-over.
 */
#version 450
layout(location = 0) out vec4 pixel;

void main()
{
    pixel = vec4(0.9, 0.5, 0.2, 1.0);
}
