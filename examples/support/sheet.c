/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The sheet of gallery, in OpenGL 3.3. Positions are in pixels from its upper left corner. */
#define _GNU_SOURCE
#include "sheet.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include "shader.h"

/*
 * Two rows of images, with equal space between and around the images, and less space between parts
 * of one image.
 */
enum { ROW = 288, SPACE = 48, GAP = 6, FIRST_ROW = SPACE, SECOND_ROW = 2 * SPACE + ROW };
enum { FACE = 92, CARD = 192, CARD_STEP = 32 };

/* The shadow: soft, below an image. `reach` is its width beyond the image. */
static const char shadow_fragment[] =
    "#version 330 core\n"
    "uniform vec4 box;\n"
    "uniform float reach;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    vec2 beyond = max(abs(gl_FragCoord.xy - box.xy) - box.zw + 0.3 * reach, 0.0);\n"
    "    float near = max(1.0 - length(beyond) / (1.3 * reach), 0.0);\n"
    "    pixel = vec4(0.0, 0.0, 0.0, 0.55 * near * near);\n"
    "}\n";

/* The image shader. Row 0 of an image is at the top. */
static const char image_fragment[] = "#version 330 core\n"
                                     "uniform %s image;\n"
                                     "uniform ivec4 box;\n"
                                     "uniform int level;\n"
                                     "uniform int layer;\n"
                                     "out vec4 pixel;\n"
                                     "vec3 on_face(vec2 p) {\n"
                                     "    if (layer == 0) return vec3(1.0, -p.y, -p.x);\n"
                                     "    if (layer == 1) return vec3(-1.0, -p.y, p.x);\n"
                                     "    if (layer == 2) return vec3(p.x, 1.0, p.y);\n"
                                     "    if (layer == 3) return vec3(p.x, -1.0, -p.y);\n"
                                     "    if (layer == 4) return vec3(p.x, -p.y, 1.0);\n"
                                     "    return vec3(-p.x, -p.y, -1.0);\n"
                                     "}\n"
                                     "void main() {\n"
                                     "    ivec2 at = ivec2(gl_FragCoord.xy) - box.xy;\n"
                                     "    at.y = box.w - 1 - at.y;\n"
                                     "    pixel = vec4((%s).rgb, 1.0);\n"
                                     "}\n";

/* Chooses how a shader reads a kind of texture. A renderbuffer is copied to a 2D texture first. */
static void reading(unsigned target, const char **sampler, const char **read)
{
    switch (target) {
    case GL_TEXTURE_RECTANGLE:
        *sampler = "sampler2DRect";
        *read = "texelFetch(image, at)";
        return;
    case GL_TEXTURE_CUBE_MAP:
        *sampler = "samplerCube";
        *read = "texture(image, on_face((2.0 * vec2(at) + 1.0) / vec2(box.zw) - 1.0))";
        return;
    case GL_TEXTURE_2D_ARRAY:
        *sampler = "sampler2DArray";
        *read = "texelFetch(image, ivec3(at, layer), level)";
        return;
    case GL_TEXTURE_3D:
        *sampler = "sampler3D";
        *read = "texelFetch(image, ivec3(at, layer), level)";
        return;
    default:
        *sampler = "sampler2D";
        *read = "texelFetch(image, at, level)";
    }
}

static bool make_program(unsigned target, unsigned *program)
{
    const char *sampler, *read;
    char text[sizeof(image_fragment) + 256];
    reading(target, &sampler, &read);
    snprintf(text, sizeof(text), image_fragment, sampler, read);
    *program = shader_program(screen_vertex, text);
    return *program != 0;
}

bool sheet_init(struct sheet *sheet, const struct collection *collection)
{
    *sheet = (struct sheet){0};
    if (!offscreen_init(&sheet->target, SHEET_WIDTH, SHEET_HEIGHT) || !screen_init(&sheet->screen))
        return false;
    sheet->shadow = shader_program(screen_vertex, shadow_fragment);
    if (sheet->shadow == 0)
        return false;
    for (int i = 0; i < IMAGES; i++)
        if (!make_program(image_kinds[i].target, &sheet->programs[i]))
            return false;

    glGenTextures(1, &sheet->copy);
    glBindTexture(GL_TEXTURE_2D, sheet->copy);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glGenFramebuffers(1, &sheet->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, sheet->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              collection->names[RENDERBUFFER]);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE)
        return true;
    fprintf(stderr, "OpenGL cannot create a framebuffer for a renderbuffer.\n");
    return false;
}

static void draw_shadow(const struct sheet *sheet, int x, int y, int w, int h, int reach)
{
    const unsigned program = sheet->shadow;
    glViewport(x - reach, y - reach, w + 2 * reach, h + 2 * reach);
    glUseProgram(program);
    glUniform4f(glGetUniformLocation(program, "box"), (float)x + (float)w / 2.0f,
                (float)y + (float)h / 2.0f, (float)w / 2.0f, (float)h / 2.0f);
    glUniform1f(glGetUniformLocation(program, "reach"), (float)reach);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    screen_cover(&sheet->screen, program);
    glDisable(GL_BLEND);
}

/*
 * One level and one layer, cube face or slice of an image, and where it is drawn. `layer` is the
 * index of the layer, face or slice.
 */
struct part {
    int image, x, y;
    int level, layer;
    int shadow; /* the width of the shadow */
};

/* Binds the texture to draw an image from. */
static void bind_image(const struct sheet *sheet, const struct collection *collection, int image)
{
    const struct image_kind *kind = &image_kinds[image];
    glActiveTexture(GL_TEXTURE0);
    if (kind->target != GL_RENDERBUFFER) {
        glBindTexture(kind->target, collection->names[image]);
        return;
    }
    glBindTexture(GL_TEXTURE_2D, sheet->copy);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, sheet->framebuffer);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, kind->width, kind->height, 0);
}

static void draw_part(const struct sheet *sheet, const struct collection *collection,
                      struct part part)
{
    const struct image_kind *kind = &image_kinds[part.image];
    const int w = kind->width >> part.level, h = kind->height >> part.level;
    /* OpenGL counts rows from the bottom. */
    const int y = SHEET_HEIGHT - part.y - h;
    draw_shadow(sheet, part.x, y, w, h, part.shadow);
    bind_image(sheet, collection, part.image);
    const unsigned program = sheet->programs[part.image];
    glViewport(part.x, y, w, h);
    glUseProgram(program);
    glUniform4i(glGetUniformLocation(program, "box"), part.x, y, w, h);
    glUniform1i(glGetUniformLocation(program, "level"), part.level);
    glUniform1i(glGetUniformLocation(program, "layer"), part.layer);
    screen_cover(&sheet->screen, program);
}

/*
 * Draws the faces of the cube unfolded, with +z in the middle. Each face is drawn as it is stored.
 */
static void draw_cube(const struct sheet *sheet, const struct collection *c, int x, int y)
{
    static const int column[6] = {2, 0, 1, 1, 1, 3}, row[6] = {1, 1, 0, 2, 1, 1};
    for (int face = 0; face < 6; face++)
        draw_part(sheet, c,
                  (struct part){.image = CUBE,
                                .x = x + column[face] * (FACE + GAP),
                                .y = y + row[face] * (FACE + GAP),
                                .layer = face,
                                .shadow = GAP});
}

/*
 * Draws the largest level on the left, the other levels below one another, and the last levels in a
 * line.
 */
static void draw_mipmaps(const struct sheet *sheet, const struct collection *c, int x, int y)
{
    int down = 0, right = ROW + GAP;
    for (int level = 0; level < image_kinds[MIPMAPS].levels; level++) {
        draw_part(sheet, c,
                  (struct part){.image = MIPMAPS,
                                .x = level == 0 ? x : x + right,
                                .y = y + down,
                                .level = level,
                                .shadow = GAP});
        const int size = ROW >> level;
        if (level >= 4)
            right += size + GAP;
        else if (level > 0)
            down += size + GAP;
    }
}

/* Draws the layers as a stack, with the first layer at the bottom. */
static void draw_layers(const struct sheet *sheet, const struct collection *c, int x, int y)
{
    const int layers = image_kinds[LAYERS].layers;
    for (int layer = 0; layer < layers; layer++)
        draw_part(sheet, c,
                  (struct part){.image = LAYERS,
                                .x = x + (layers - 1 - layer) * CARD_STEP,
                                .y = y + layer * CARD_STEP,
                                .layer = layer,
                                .shadow = 20});
}

static void draw_slices(const struct sheet *sheet, const struct collection *c, int x, int y)
{
    for (int slice = 0; slice < image_kinds[VOLUME].depth; slice++)
        draw_part(sheet, c,
                  (struct part){.image = VOLUME,
                                .x = x + slice % 4 * (FACE + GAP),
                                .y = y + slice / 4 * (FACE + GAP),
                                .layer = slice,
                                .shadow = GAP});
}

void sheet_draw(const struct sheet *sheet, const struct collection *collection)
{
    offscreen_bind(&sheet->target);
    screen_backdrop(&sheet->screen);

    int x = SPACE;
    draw_part(sheet, collection,
              (struct part){.image = PLANE, .x = x, .y = FIRST_ROW, .shadow = 20});
    x += image_kinds[PLANE].width + SPACE;
    draw_cube(sheet, collection, x, FIRST_ROW);
    x += 4 * FACE + 3 * GAP + SPACE;
    draw_mipmaps(sheet, collection, x, FIRST_ROW);

    x = SPACE;
    draw_layers(sheet, collection, x, SECOND_ROW);
    x += CARD + 3 * CARD_STEP + SPACE;
    draw_part(sheet, collection,
              (struct part){.image = RECTANGLE, .x = x, .y = SECOND_ROW, .shadow = 20});
    x += image_kinds[RECTANGLE].width + SPACE;
    draw_slices(sheet, collection, x, SECOND_ROW);
    x += 4 * FACE + 3 * GAP + SPACE;
    draw_part(sheet, collection,
              (struct part){.image = RENDERBUFFER, .x = x, .y = SECOND_ROW, .shadow = 20});
}

void sheet_free(struct sheet *sheet)
{
    for (int i = 0; i < IMAGES; i++)
        if (sheet->programs[i] != 0)
            glDeleteProgram(sheet->programs[i]);
    if (sheet->shadow != 0)
        glDeleteProgram(sheet->shadow);
    if (sheet->framebuffer != 0) {
        glDeleteFramebuffers(1, &sheet->framebuffer);
        glDeleteTextures(1, &sheet->copy);
    }
    screen_free(&sheet->screen);
    offscreen_free(&sheet->target);
    *sheet = (struct sheet){0};
}
