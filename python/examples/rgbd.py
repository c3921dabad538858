#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A simulated RGB-D camera: OpenGL draws what it sees, PyTorch turns the depth into points.

    python3 rgbd.py --frames 24 --output pictures

OpenGL draws a scene into a multisampled framebuffer. fetch_framebuffer() reads its colour and its
depth, in metres, into tensors. PyTorch computes the point in the world for each pixel, and writes
the points to an OpenGL vertex buffer. OpenGL draws them from another side, beside the colour and
the depth. The tensors stay on the GPU. PICTURES/rgbd-0000.png and so on show the frames, and
PICTURES/rgbd.ply has the last points. On the software driver NumPy can replace PyTorch.
"""

import math

import gl
import grinterop
import output
from scene import CAMERA, FAR, FOCAL, NEAR, Camera, Scene

try:
    import torch as xp
except ImportError:
    try:
        import numpy as xp
    except ImportError as error:
        output.missing("PyTorch or, on the software driver, NumPy", error)

VERTEX = """
    layout(location = 0) in vec3 point;
    layout(location = 1) in vec4 rgba;
    out vec4 tint;
    void main()
    {
        tint = rgba;
        gl_Position = project(point);
        gl_PointSize = 2.5;
    }"""
FRAGMENT = """
    in vec4 tint;
    out vec4 color;
    void main()
    {
        if (tint.a < 1.0) // the pixel is not covered
            discard;
        color = tint;
    }"""
PLY = """ply
format binary_little_endian 1.0
element vertex {}
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
property uchar alpha
end_header
"""  # the vertices have the layout of the vertex buffer
EDGES = (0, 1, 2, 3, 0, 4, 1, 2, 4, 3)  # the camera's view: four corners, the eye


def empty(shape, dtype, stream):
    """An array in memory that CUDA can access, also with the software driver."""
    return xp.from_dlpack(grinterop.Tensor.create(shape, dtype, stream=stream))


class Sensor:
    """An RGB-D camera. Row 0 of its pictures is the top."""

    def __init__(self, width, height, samples, sample, stream):
        self.sample, self.target = sample, gl.Target(width, height)
        self.target.attach(gl.COLOR_ATTACHMENT0, gl.RGBA8, samples)
        self.target.attach(gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24, samples)
        staging = gl.buffer(8 * width * height + 256)
        self.staging = grinterop.GraphicsResource.from_gl_buffer(staging, flags="read_only")
        self.color = empty((height, width, 4), "uint8", stream)
        self.depth = empty((height, width), "float32", stream)

    def see(self, scene, camera, stream):
        """Draws the scene. Where there is nothing, alpha is 0."""
        self.target.clear(0.50, 0.56, 0.62, alpha=0)
        scene.draw(camera)
        grinterop.fetch_framebuffer(
            self.target.name, {"color": self.color, "depth": self.depth}, stream=stream, near=NEAR,
            far=FAR, flip=True, staging=self.staging, sample=self.sample,
        )


class Cloud:
    """A point per pixel in an OpenGL vertex buffer, then the edges of the camera's view."""

    def __init__(self, width, height, device):
        self.count, self.device = width * height, device
        self.buffer = gl.buffer(16 * (self.count + len(EDGES)))
        self.resource = grinterop.GraphicsResource.from_gl_buffer(self.buffer)
        self.array = gl.colored_points(self.buffer)
        self.program = gl.program(CAMERA + VERTEX, FRAGMENT)
        across = xp.arange(width, dtype=xp.float32, device=device) * 2 + 1 - width
        down = xp.arange(height, dtype=xp.float32, device=device) * 2 + 1 - height
        x, y = xp.meshgrid(across / height / FOCAL, down / -height / FOCAL, indexing="xy")
        self.rays = xp.stack((x, y, -xp.ones_like(x)), -1)
        corners = self.rays[[0, 0, -1, -1], [0, -1, -1, 0]]
        self.view = 0.5 * xp.vstack((corners, 0 * corners[:1]))[list(EDGES)]

    def unproject(self, depth, camera):
        """Computes the points in the world. The rows of the pose are right, up, back and position.
        """
        pose = xp.asarray(camera.pose, dtype=xp.float32, device=self.device).reshape(4, 4)
        seen = (self.rays * depth[:, :, None]).reshape(-1, 3)
        return xp.vstack((seen, self.view)) @ pose[:3, :3] + pose[3, :3]

    def fill(self, sensor, camera, stream):
        points = self.unproject(sensor.depth, camera)
        with self.resource.map(stream=stream) as buffer:
            vertices = xp.from_dlpack(buffer.tensor((len(points), 16), "uint8"))
            vertices[:, :12] = points.view(xp.uint8)
            vertices[: self.count, 12:] = sensor.color.reshape(-1, 4)
            vertices[self.count :, 12:] = 255
            del vertices

    def draw(self, viewer):
        viewer.use(self.program)
        gl.BindVertexArray(self.array)
        gl.DrawArrays(gl.POINTS, 0, self.count)
        gl.DrawArrays(gl.LINE_STRIP, self.count, len(EDGES))

    def write_ply(self, path):
        data = gl.read_buffer(self.buffer, 16 * self.count)
        points = [data[at : at + 16] for at in range(0, len(data), 16) if data[at + 15] == 255]
        path.write_bytes(PLY.format(len(points)).encode() + b"".join(points))


class Display:
    """Shows the camera's colour above its depth, and the point cloud beside them."""

    def __init__(self, width, height, sensor, stream):
        self.screen, self.picture = gl.Screen(width, height), gl.Picture()
        self.screen.attach(gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24)
        rows, columns, _ = sensor.color.shape
        self.left = columns // 2
        self.shown = empty((2 * rows, columns, 3), "uint8", stream)
        self.texture = gl.texture(columns, 2 * rows, filter=gl.LINEAR)
        self.resource = grinterop.GraphicsResource.from_gl_image(
            self.texture, gl.TEXTURE_2D, flags=("write_discard", "surface_load_store")
        )

    def publish(self, sensor, stream):
        """Publishes colour and depth. Near depths are yellow, far depths are dark."""
        rows, near = len(sensor.color), ((6 - sensor.depth) / 4).clip(0, 1)
        self.shown[:rows] = sensor.color[:, :, :3]
        self.shown[rows:, :, 0] = 255 * near**0.6
        self.shown[rows:, :, 1] = 255 * near**2
        self.shown[rows:, :, 2] = 600 * near * (1 - near) + 40
        grinterop.publish(self.resource, self.shown, stream=stream, flip=True)

    def draw(self, cloud, viewer):
        self.screen.clear(0.04, 0.05, 0.07)
        self.picture.draw(self.texture, right=2 * self.left / self.screen.width - 1)
        gl.Viewport(self.left, 0, self.screen.width - self.left, self.screen.height)
        cloud.draw(viewer)
        return self.screen.read()


def main():
    parser = output.options(__doc__.splitlines()[0], 24, "rgbd")
    parser.add_argument("--samples", type=int, default=4, help="per pixel; 4, 0 for exact depth")
    parser.add_argument("--sample", type=int, default=0, help="to read, from 1 on; 0 resolves them")
    chosen = output.parse(parser)
    if xp.__name__ == "torch":
        device, stream, egl = output.begin_torch(xp)
    else:
        device, (stream, egl) = "cpu", output.begin()
        if not grinterop.cuda_is_software():
            output.missing("PyTorch", "NumPy has no arrays on the GPU")
    print(f"{xp.__name__} {xp.__version__} on {device}; {egl.describe()}")
    width, height = max(chosen.width * 3 // 4, 1), chosen.height
    sensor, scene = Sensor(width, height, chosen.samples, chosen.sample, stream), Scene()
    cloud = Cloud(width, height, device)
    display = Display(chosen.width, chosen.height, sensor, stream)
    viewer = Camera((-2.4, -4.4, 3.7), (0.6, -0.7, 0.4), (chosen.width - width // 2) / height)
    gl.Enable(gl.DEPTH_TEST)
    gl.Enable(gl.PROGRAM_POINT_SIZE)
    for frame in range(chosen.frames):
        turn = 0.8 * math.sin(2 * math.pi * frame / chosen.frames) - 1.0
        eye = (3.4 * math.cos(turn), 3.4 * math.sin(turn), 2.3)
        camera = Camera(eye, (0, 0, 0.35), width / height)
        sensor.see(scene, camera, stream)
        if device == "cpu":  # no stream orders the work of the CPU
            stream.sync()
        cloud.fill(sensor, camera, stream)
        display.publish(sensor, stream)
        path, picture = chosen.output / f"rgbd-{frame:04}.png", display.draw(cloud, viewer)
        output.write_png(path, chosen.width, chosen.height, picture)
        output.progress(frame + 1, chosen.frames, "frames")
    cloud.write_ply(chosen.output / "rgbd.ply")
    print(f"{chosen.frames} frames and the last cloud, rgbd.ply, in {chosen.output}")


if __name__ == "__main__":
    main()
