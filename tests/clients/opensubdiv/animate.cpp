/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * animate [--frames N] [--level N] [--part] [--time N] [--picture FILE]: animates a Catmull-Clark
 * mesh of OpenSubdiv, a bishop, with the CUDA evaluator and an OpenGL vertex buffer. Draws each
 * frame into a framebuffer object, and compares the vertices and the picture with those of the CPU
 * evaluator. Fails if one of them differs.
 *
 *     --part     uploads and moves only a part of the control points after the first frame
 *     --time N   prints the time of N frames of the CUDA evaluator, and of the steps of a frame
 */
#include "glLoader.h"

#include <opensubdiv/osd/cpuEvaluator.h>
#include <opensubdiv/osd/cpuGLVertexBuffer.h>
#include <opensubdiv/osd/cudaEvaluator.h>
#include <opensubdiv/osd/cudaGLVertexBuffer.h>
#include <opensubdiv/osd/glMesh.h>

#include "regression/common/far_utils.h"
#include "regression/shapes/catmark_bishop.h"

#include <grinterop/egl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using namespace OpenSubdiv;
using mesh_type = std::unique_ptr<Osd::GLMeshInterface>;

namespace
{
const int SIDE = 512;
/* Results that differ by up to these limits count as equal: a GPU rounds in another order. */
const float CLOSE_VERTEX = 1e-5f;
const int CLOSE_PIXEL = 8;

/* Quads arrive as lines with adjacency. Each face has one normal. */
const char *vertex_shader = R"(#version 410
layout(location = 0) in vec3 point;
out vec3 seen;
void main() { seen = vec3(point.x, point.z, -point.y) - vec3(0, 0.05, 0); })";
const char *geometry_shader = R"(#version 410
layout(lines_adjacency) in;
layout(triangle_strip, max_vertices = 4) out;
in vec3 seen[];
flat out vec3 normal;
void main() {
    const int order[4] = int[](0, 1, 3, 2);
    for (int i = 0; i < 4; i++) {
        vec3 p = seen[order[i]];
        gl_Position = vec4(p.xy * 1.7, p.z * 0.5, 1);
        normal = normalize(cross(seen[2] - seen[0], seen[3] - seen[1]));
        EmitVertex();
    }
})";
const char *fragment_shader = R"(#version 410
flat in vec3 normal;
out vec4 colour;
void main() { colour = vec4(normal * 0.5 + 0.5, 1); })";

[[noreturn]] void fail(const char *what)
{
    gr_error_print(stderr, what);
    exit(1);
}

GLuint compile(GLuint program, GLenum kind, const char *text)
{
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    return shader;
}

/* Sets all OpenGL state. Only the vertex and the index buffer change later. */
void set_up()
{
    const GLuint program = glCreateProgram();
    compile(program, GL_VERTEX_SHADER, vertex_shader);
    compile(program, GL_GEOMETRY_SHADER, geometry_shader);
    compile(program, GL_FRAGMENT_SHADER, fragment_shader);
    glLinkProgram(program);
    glUseProgram(program);

    GLuint frame, targets[2], array;
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glGenRenderbuffers(2, targets);
    glBindRenderbuffer(GL_RENDERBUFFER, targets[0]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glBindRenderbuffer(GL_RENDERBUFFER, targets[1]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, SIDE, SIDE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, targets[0]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, targets[1]);
    glViewport(0, 0, SIDE, SIDE);
    glEnable(GL_DEPTH_TEST);
    glClearColor(0.1f, 0.1f, 0.1f, 1);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glEnableVertexAttribArray(0);
    if (glGetError() != GL_NO_ERROR)
        fail("the OpenGL state");
}

template <class Buffer, class Stencils, class Evaluator>
mesh_type make_mesh(const Shape &shape, int level)
{
    typedef Far::TopologyRefinerFactory<Shape> Factory;
    Far::TopologyRefiner *refiner =
        Factory::Create(shape, Factory::Options(GetSdcType(shape), GetSdcOptions(shape)));
    return mesh_type(
        new Osd::Mesh<Buffer, Stencils, Evaluator, Osd::GLPatchTable>(refiner, 3, 0, level));
}

/* Control points in the cube from -0.5 to 0.5. */
std::vector<float> normalise(std::vector<float> points)
{
    float low[3], high[3], size = 0;
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = points[axis];
        for (size_t i = axis; i < points.size(); i += 3) {
            low[axis] = std::min(low[axis], points[i]);
            high[axis] = std::max(high[axis], points[i]);
        }
        size = std::max(size, high[axis] - low[axis]);
    }
    for (size_t i = 0; i < points.size(); i++)
        points[i] = (points[i] - (low[i % 3] + high[i % 3]) / 2) / size;
    return points;
}

/* Twists the control points from `first` on around the axis, by an angle of this frame. */
void twist(const std::vector<float> &rest, std::vector<float> &points, size_t first, int frame)
{
    const float turn = 2.5f * std::sin(0.3f * frame);
    for (size_t i = 3 * first; i < rest.size(); i += 3) {
        const float c = std::cos(turn * rest[i + 2]), s = std::sin(turn * rest[i + 2]);
        points[i] = rest[i] * c + rest[i + 1] * s;
        points[i + 1] = rest[i + 1] * c - rest[i] * s;
        points[i + 2] = rest[i + 2];
    }
}

struct animation {
    std::vector<float> rest, points;
    bool part;

    /* Uploads the control points that move in this frame. */
    void upload(Osd::GLMeshInterface &mesh, int frame)
    {
        const size_t count = rest.size() / 3;
        const size_t first = part && frame > 0 ? count / 2 : 0;
        twist(rest, points, first, frame);
        mesh.UpdateVertexBuffer(&points[3 * first], (int)first, (int)(count - first));
    }
};

/* Returns the name of the vertex buffer. */
GLuint draw(Osd::GLMeshInterface &mesh)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    const GLuint buffer = mesh.BindVertexBuffer();
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, mesh.GetPatchTable()->GetPatchIndexBuffer());
    for (const Osd::PatchArray &patches : mesh.GetPatchTable()->GetPatchArrays())
        glDrawElements(GL_LINES_ADJACENCY, 4 * patches.GetNumPatches(), GL_UNSIGNED_INT,
                       (char *)NULL + sizeof(GLuint) * patches.GetIndexBase());
    return buffer;
}

struct result {
    std::vector<float> vertices;
    std::vector<unsigned char> pixels;
};

result evaluate(Osd::GLMeshInterface &mesh, animation &moving, int frame)
{
    result made = {std::vector<float>(3 * mesh.GetNumVertices()),
                   std::vector<unsigned char>(3 * SIDE * SIDE)};
    const size_t size = made.vertices.size() * sizeof(float);
    moving.upload(mesh, frame);
    mesh.Refine();
    const GLuint buffer = draw(mesh);
    glReadPixels(0, 0, SIDE, SIDE, GL_RGB, GL_UNSIGNED_BYTE, made.pixels.data());

    /* OpenGL may be unable to read the vertex buffer itself: gr_create_gl_buffer(). */
    GLuint copy;
    glGenBuffers(1, &copy);
    glBindBuffer(GL_COPY_WRITE_BUFFER, copy);
    glBufferData(GL_COPY_WRITE_BUFFER, size, NULL, GL_STREAM_READ);
    glBindBuffer(GL_COPY_READ_BUFFER, buffer);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, size);
    glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, size, made.vertices.data());
    glDeleteBuffers(1, &copy);
    return made;
}

/* Prints a line and returns false if the results differ. */
bool compare(const result &cuda, const result &cpu, int frame)
{
    float farthest = 0;
    int vertices = 0, pixels = 0, background = 0;
    for (size_t i = 0; i < cpu.vertices.size(); i++) {
        const float off = std::fabs(cuda.vertices[i] - cpu.vertices[i]);
        vertices += !(off <= CLOSE_VERTEX);
        farthest = std::max(farthest, off);
    }
    for (size_t i = 0; i < cpu.pixels.size(); i++) {
        pixels += std::abs(cuda.pixels[i] - cpu.pixels[i]) > CLOSE_PIXEL;
        background += cpu.pixels[i] == cpu.pixels[0];
    }
    const int total = (int)cpu.pixels.size();
    const bool same = !vertices && pixels <= total / 1000 && background < total * 9 / 10;
    printf("frame %d: %s: coordinates beyond %g: %d of %zu, largest difference %g; colours beyond "
           "%d: %d of %d\n",
           frame, same ? "same" : "DIFFERENT", CLOSE_VERTEX, vertices, cpu.vertices.size(),
           farthest, CLOSE_PIXEL, pixels, total);
    return same;
}

void write_picture(const char *name, const std::vector<unsigned char> &pixels)
{
    FILE *file = fopen(name, "wb");
    if (!file) {
        perror(name);
        exit(1);
    }
    fprintf(file, "P6 %d %d 255\n", SIDE, SIDE);
    for (int row = SIDE; row-- > 0;)
        fwrite(&pixels[3 * SIDE * row], 1, 3 * SIDE, file);
    fclose(file);
}

/* The time that the thread spends in one step of all frames. */
struct step {
    const char *name;
    double sum = 0, longest = 0;

    template <class Call> void run(Call call)
    {
        const auto start = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::micro> taken =
            std::chrono::steady_clock::now() - start;
        sum += taken.count();
        longest = std::max(longest, taken.count());
    }
};

void measure(Osd::GLMeshInterface &mesh, animation &moving, int frames)
{
    step all = {"all"}, upload = {"upload"}, refine = {"refine"}, drawing = {"draw"};
    all.run([&] {
        for (int frame = 0; frame < frames; frame++) {
            upload.run([&] { moving.upload(mesh, frame); });
            refine.run([&] { mesh.Refine(); });
            drawing.run([&] { draw(mesh); });
        }
        glFinish();
    });
    printf("%d frames, %d vertices: %.1f us per frame", frames, mesh.GetNumVertices(),
           all.sum / frames);
    for (const step &one : {upload, refine, drawing})
        printf("; %s %.1f, longest %.1f", one.name, one.sum / frames, one.longest);
    printf("\n");
}
struct options {
    int frames = 12, level = 2, timed = 0;
    bool part = false;
    const char *picture = NULL;

    options(int argc, char **argv)
    {
        for (int i = 1; i < argc; i++) {
            const std::string name = argv[i];
            const char *value = i + 1 < argc ? argv[i + 1] : "";
            if (name == "--frames")
                frames = atoi(value);
            else if (name == "--level")
                level = atoi(value);
            else if (name == "--time")
                timed = atoi(value);
            else if (name == "--picture")
                picture = value;
            else if (name != "--part") {
                fprintf(stderr, "animate: unknown option %s\n", argv[i]);
                exit(2);
            }
            part = part || name == "--part";
            i += name != "--part";
        }
    }
};

/* Returns whether all results are the same. */
bool animate(const options &wanted)
{
    const std::unique_ptr<Shape> shape(Shape::parseObj(catmark_bishop.c_str(), kCatmark));
    const std::vector<float> rest = normalise(shape->verts);
    const mesh_type cuda =
        make_mesh<Osd::CudaGLVertexBuffer, Osd::CudaStencilTable, Osd::CudaEvaluator>(*shape,
                                                                                      wanted.level);
    const mesh_type cpu = make_mesh<Osd::CpuGLVertexBuffer, Far::StencilTable, Osd::CpuEvaluator>(
        *shape, wanted.level);
    animation moving = {rest, rest, wanted.part};
    bool same = true;
    for (int frame = 0; frame < wanted.frames; frame++) {
        const result made = evaluate(*cuda, moving, frame);
        same = compare(made, evaluate(*cpu, moving, frame), frame) && same;
        if (wanted.picture && frame == wanted.frames - 1)
            write_picture(wanted.picture, made.pixels);
    }
    if (wanted.timed)
        measure(*cuda, moving, wanted.timed);
    return same;
}
} // namespace

int main(int argc, char **argv)
{
    const options wanted(argc, argv);
    gr_egl *egl = gr_egl_create(NULL);
    if (!egl)
        fail("OpenGL");
    printf("%s\n", egl->description);
    if (!internal::GLLoader::applicationInitializeGL())
        fail("the OpenGL functions");
    set_up();
    const bool same = animate(wanted);
    gr_egl_free(egl);
    return same ? 0 : 1;
}
