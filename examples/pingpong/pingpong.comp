/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies a shared image to its tile of the picture, one invocation per texel. */
#version 450

layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0) uniform sampler2D image;
layout(binding = 1, rgba8) uniform writeonly image2D picture;
layout(push_constant) uniform Tile {
    ivec2 origin;
};

void main()
{
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    /* The two rows below the tile are not part of the picture. */
    const ivec2 tile = textureSize(image, 0) - ivec2(0, 2);
    if (all(lessThan(at, tile)))
        imageStore(picture, origin + at, texelFetch(image, at, 0));
}
