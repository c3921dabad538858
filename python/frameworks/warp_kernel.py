# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A Warp kernel, in its own module since Warp reads the source and resolves names in it."""

import warp


@warp.kernel
def sample(image: warp.Texture2D, texels: warp.array2d(dtype=warp.vec4f)):
    """Reads each texel of a texture."""
    x, y = warp.tid()
    at = warp.vec2f(float(x) + 0.5, float(y) + 0.5)
    texels[y, x] = warp.texture_sample(image, at, dtype=warp.vec4f)
