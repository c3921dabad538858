#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""PyTorch optimises a tensor; OpenGL draws it every few steps without a copy to the CPU.

    python3 torch_draw.py --frames 90 --output pictures

Random points learn to form a figure: the loss compares both point clouds along many directions (a
sliced Wasserstein distance). While mapped, the OpenGL vertex buffer is a PyTorch tensor, so OpenGL
draws what PyTorch wrote. PICTURES/torch_draw-0000.png and so on show the progress.
"""

import math

import gl
import grinterop
import output

try:
    import torch
except ImportError as error:
    output.missing("PyTorch", error)

VERTEX = """
    layout(location = 0) in vec4 point;
    uniform float width;
    out vec4 tint;
    void main()
    {
        float fast = clamp(point.w, 0.0, 1.0);
        tint = mix(vec4(0.30, 0.62, 1.00, 0.55), vec4(1.00, 0.55, 0.15, 0.75), fast);
        gl_Position = vec4(point.x * width, point.y, 0, 1);
        gl_PointSize = 2.0 + 2.0 * fast;
    }"""
FRAGMENT = """
    in vec4 tint;
    out vec4 color;
    void main()
    {
        float far = length(gl_PointCoord - 0.5) * 2.0;
        color = vec4(tint.rgb, tint.a * (1.0 - far * far));
        if (far > 1.0)
            discard;
    }"""


def figure(count, device):
    """Points on a knot that winds three times around, seen from above."""
    at = torch.rand(count, device=device) * 2 * math.pi
    radius = 0.62 + 0.26 * torch.cos(3 * at)
    points = torch.stack([radius * torch.cos(2 * at), radius * torch.sin(2 * at)], 1)
    return points + 0.018 * torch.randn(count, 2, device=device)


def distance(points, wanted, directions):
    """The distance of two point clouds along that many random directions."""
    angle = torch.rand(directions, device=points.device) * math.pi
    axes = torch.stack([torch.cos(angle), torch.sin(angle)])
    return ((points @ axes).sort(0).values - (wanted @ axes).sort(0).values).square().mean()


class Cloud:
    """Points that learn."""

    def __init__(self, count, device):
        self.wanted = figure(count, device)
        start = torch.rand(count, 2, device=device) * 1.8 - 0.9
        self.points = start.requires_grad_()
        self.before = start.detach().clone()
        self.optimizer = torch.optim.Adam([self.points], lr=0.008)

    def learn(self, steps):
        """Runs that many optimisation steps. Returns the last loss."""
        self.before.copy_(self.points.detach())
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = distance(self.points, self.wanted, 64) * len(self.points) / 1000
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def write(self, vertices):
        """Writes the vertices (x, y, 0, speed) to the mapped buffer."""
        points = self.points.detach()
        vertices[:, :2] = points
        vertices[:, 2] = 0
        vertices[:, 3] = (points - self.before).norm(dim=1) * 30


class Drawing:
    """A vertex buffer that CUDA writes to, and a screen."""

    def __init__(self, count, width, height):
        self.count = count
        self.buffer = gl.buffer(16 * count)
        self.resource = grinterop.GraphicsResource.from_gl_buffer(
            self.buffer, flags="write_discard"
        )
        self.array = gl.vertices(self.buffer, 4)
        self.program = gl.program(VERTEX, FRAGMENT)
        self.screen = gl.Screen(width, height)

    def fill(self, cloud, stream):
        """Yields the mapped buffer as a PyTorch tensor. It is unmapped on exit."""
        with self.resource.map(stream=stream) as buffer:
            vertices = torch.from_dlpack(buffer.tensor((self.count, 4), "float32"))
            cloud.write(vertices)

    def draw(self):
        self.screen.clear(0.03, 0.04, 0.07)
        gl.Enable(gl.BLEND)
        gl.Enable(gl.PROGRAM_POINT_SIZE)
        gl.BlendFunc(gl.SRC_ALPHA, gl.ONE)
        gl.UseProgram(self.program)
        gl.Uniform1f(gl.uniform("width", self.program), self.screen.height / self.screen.width)
        gl.BindVertexArray(self.array)
        gl.DrawArrays(gl.POINTS, 0, self.count)
        return self.screen.read()


def main():
    parser = output.options(__doc__.splitlines()[0], 60, "torch_draw")
    parser.add_argument("--points", type=int, default=20000, help="how many; 20000")
    parser.add_argument("--steps", type=int, default=4, help="steps between frames; 4")
    chosen = output.parse(parser)
    device, stream, egl = output.begin_torch(torch)
    print(f"PyTorch {torch.__version__} on {device}; {egl.describe()}")
    torch.manual_seed(7)
    cloud = Cloud(chosen.points, device)
    drawing = Drawing(chosen.points, chosen.width, chosen.height)
    progress = output.Progress(chosen.frames, "frames")
    for frame in range(chosen.frames):
        drawing.fill(cloud, stream)
        path = chosen.output / f"torch_draw-{frame:04}.png"
        output.write_png(path, chosen.width, chosen.height, drawing.draw())
        loss = cloud.learn(chosen.steps)
        progress.show(frame + 1, f"loss {loss:.1e}")
    moved = grinterop.bytes_moved()
    print(f"{chosen.frames} frames in {chosen.output}; grinterop copied {moved} bytes")


if __name__ == "__main__":
    main()
