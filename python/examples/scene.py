# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The scene of rgbd.py, drawn by OpenGL: solids on a floor, a lamp, and cameras.

The solids are superellipsoids: two exponents make boxes, cylinders, spheres and octahedra.
"""

import math
from ctypes import c_float

import gl

# Each row is a solid, in metres, with z up: center and angle; half sizes; exponents across and
# upwards; colour.
SOLIDS = (
    ((0, 0, -0.05, 0), (2.4, 1.9, 0.05, 0), (0.15, 0.02, 0, 0), (0.80, 0.78, 0.72, 1)),
    ((-0.75, 0.15, 0.45, 0.5), (0.42, 0.42, 0.45, 0), (0.1, 0.1, 0, 0), (0.85, 0.22, 0.16, 1)),
    ((0.55, -0.75, 0.40, 0), (0.40, 0.40, 0.40, 0), (1, 1, 0, 0), (0.16, 0.42, 0.86, 1)),
    ((0.75, 0.70, 0.60, 0), (0.32, 0.32, 0.60, 0), (1, 0.1, 0, 0), (0.18, 0.62, 0.30, 1)),
    ((-0.75, 0.15, 1.25, 0.2), (0.35, 0.35, 0.35, 0), (2, 2, 0, 0), (0.95, 0.70, 0.12, 1)),
    ((-0.55, -1.15, 0.18, -0.4), (0.50, 0.26, 0.18, 0), (0.5, 0.5, 0, 0), (0.58, 0.30, 0.72, 1)),
)
ACROSS, UP = 48, 24  # the number of quads of a solid
FOCAL, NEAR, FAR = 1.7, 0.1, 20.0

CAMERA = """
    uniform mat4 pose; // right, up, back, position
    uniform vec4 lens;
    vec4 project(vec3 point)
    {
        vec3 seen = transpose(mat3(pose)) * (point - pose[3].xyz);
        return vec4(lens.xy * seen.xy, lens.z * seen.z + lens.w, -seen.z);
    }"""
SOLID = f"uniform mat4 solids[{len(SOLIDS)}];"
SOLID += """
    vec3 inside(mat4 solid, vec3 point) // from -1 to 1
    {
        vec3 p = point - solid[0].xyz;
        float c = cos(solid[0].w), s = sin(solid[0].w);
        return vec3(c * p.x + s * p.y, c * p.y - s * p.x, p.z) / solid[1].xyz;
    }
    float gauge(mat4 solid, vec3 p) // 1 on the surface
    {
        vec3 q = pow(abs(p) + 1e-6, 2.0 / solid[2].xxy);
        return pow(pow(q.x + q.y, solid[2].x / solid[2].y) + q.z, 0.5 * solid[2].y);
    }"""
VERTEX = f"""
    flat out int number;
    out vec3 at;
    vec2 round(float turn, float exponent)
    {{
        vec2 v = vec2(cos(turn), sin(turn));
        return sign(v) * pow(abs(v) + 1e-6, vec2(exponent));
    }}
    void main()
    {{
        number = gl_InstanceID;
        mat4 solid = solids[number];
        int corner = gl_VertexID % 6, quad = gl_VertexID / 6;
        ivec2 step = ivec2(quad % {ACROSS}, quad / {ACROSS});
        step += ivec2(corner == 1 || corner > 3, corner == 2 || corner == 3 || corner == 5);
        vec2 across = round(radians(360.0) * (float(step.x) / {ACROSS}.0 - 0.5), solid[2].x);
        vec2 up = round(radians(180.0) * (float(step.y) / {UP}.0 - 0.5), solid[2].y);
        vec3 p = vec3(across * up.x, up.y) * solid[1].xyz;
        float c = cos(solid[0].w), s = sin(solid[0].w);
        at = solid[0].xyz + vec3(c * p.x - s * p.y, c * p.y + s * p.x, p.z);
        gl_Position = project(at);
    }}"""
FRAGMENT = """
    flat in int number;
    in vec3 at;
    out vec4 color;
    const vec3 lamp = vec3(-2.5, -1.5, 4.0);
    float light(vec3 to)
    {
        float lit = 1.0;
        for (int i = 1; i < solids.length(); i++) {
            if (i == number)
                continue;
            vec3 from = inside(solids[i], at), along = inside(solids[i], lamp) - from;
            float nearest = clamp(-dot(from, along) / dot(along, along), 0.0, 1.0);
            if (length(from + nearest * along) > 2.1)
                continue;
            float near = 0.0, far = 1.0, least = 9.0;
            for (int step = 0; step < 10; step++) { // the gauge is convex along the ray
                float a = mix(near, far, 0.4), b = mix(near, far, 0.6);
                float ga = gauge(solids[i], from + a * along);
                float gb = gauge(solids[i], from + b * along);
                least = min(least, min(ga, gb));
                if (ga < gb)
                    far = b;
                else
                    near = a;
            }
            lit *= smoothstep(0.9, 1.2, least);
        }
        return lit;
    }
    void main()
    {
        mat4 solid = solids[number];
        vec3 p = inside(solid, at), s = 2.0 / solid[2].xxy - 1.0;
        float q = pow(abs(p.x) + 1e-6, s.x + 1.0) + pow(abs(p.y) + 1e-6, s.y + 1.0);
        vec3 slope = sign(p) * pow(abs(p) + 1e-6, s) / solid[1].xyz;
        slope.xy *= pow(q, solid[2].x / solid[2].y - 1.0);
        float c = cos(solid[0].w), t = sin(solid[0].w);
        vec3 normal = vec3(c * slope.x - t * slope.y, c * slope.y + t * slope.x, slope.z);
        normal = normalize(normal);
        vec3 to = normalize(lamp - at), tint = solid[3].rgb;
        if (number == 0 && (int(floor(at.x / 0.4) + floor(at.y / 0.4)) & 1) == 1)
            tint *= 0.72;
        float bright = 0.3 + 0.1 * normal.z + 0.7 * max(dot(normal, to), 0.0) * light(to);
        color = vec4(tint * bright, 1);
    }"""


def cross(a, b):
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def normalized(vector):
    return [number / math.hypot(*vector) for number in vector]


class Camera:
    """A camera at a point that looks at another point."""

    def __init__(self, eye, target, aspect):
        back = normalized([a - b for a, b in zip(eye, target, strict=True)])
        right = normalized(cross((0, 0, 1), back))
        self.pose = [*right, 0, *cross(back, right), 0, *back, 0, *eye, 1]
        depth = ((FAR + NEAR) / (NEAR - FAR), 2 * FAR * NEAR / (NEAR - FAR))
        self.lens = (FOCAL / aspect, FOCAL, *depth)

    def use(self, program):
        gl.UseProgram(program)
        gl.UniformMatrix4fv(gl.uniform("pose", program), 1, 0, (c_float * 16)(*self.pose))
        gl.Uniform4f(gl.uniform("lens", program), *self.lens)


class Scene:
    def __init__(self):
        self.program = gl.program(CAMERA + SOLID + VERTEX, SOLID + FRAGMENT)
        self.array = gl.vertex_array()
        numbers = [number for solid in SOLIDS for row in solid for number in row]
        gl.UseProgram(self.program)
        place = gl.uniform("solids", self.program)
        gl.UniformMatrix4fv(place, len(SOLIDS), 0, (c_float * len(numbers))(*numbers))

    def draw(self, camera):
        camera.use(self.program)
        gl.BindVertexArray(self.array)
        gl.DrawArraysInstanced(gl.TRIANGLES, 0, 6 * ACROSS * UP, len(SOLIDS))
        gl.check("drawing the scene")
