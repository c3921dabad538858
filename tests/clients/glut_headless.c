/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A GLUT without windows, for third-party programs on a machine without a display: the programs
 * draw to an EGL pbuffer on the first EGL device, with the fixed-function pipeline as under GLX.
 * This GLUT has only the calls that NVIDIA's samples use, and no events. legacy.sh builds and uses
 * it.
 *
 *     cc -shared -fPIC -Wl,-soname,libglut.so.3 -o libglut.so.3 glut_headless.c -lEGL -lOpenGL -lm
 *     GLUT_FRAMES=30 GLUT_PICTURE=drawn.ppm LD_LIBRARY_PATH=. ./program
 *
 * GLUT_FRAMES   frames until the window is closed, as if by the user; default 30
 * GLUT_PICTURE  the file for the last frame, as PPM; default none
 *
 * At the end it prints the frames per second of the second half of the frames.
 *
 * Time advances by 1/60 s per frame, so that each machine draws the same frames. For the same
 * reason a teapot is a torus of triangles here.
 */
#define GL_GLEXT_PROTOTYPES
#include "pbuffer.h"

#include <GL/freeglut.h>
#include <GL/glext.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_TIMERS = 16, FRAMES_A_SECOND = 60 };

struct timer {
    void (*call)(int);
    int value, due;
};

static struct {
    int width, height;
    void (*display)(void);
    void (*reshape)(int, int);
    void (*idle)(void);
    void (*close)(void);
    bool gone;
    int frames, last;
    double began; /* when the second half of the frames began, in seconds */
    struct timer timers[MOST_TIMERS];
} window = {.width = 300, .height = 300, .last = 30};

static int elapsed(void)
{
    return window.frames * 1000 / FRAMES_A_SECOND;
}

/* ---- The window ------------------------------------------------------------------------------ */

int glutCreateWindow(const char *title)
{
    pbuffer_create(window.width, window.height, NULL);
    fprintf(stderr, "glut: %s: %d x %d on %s, OpenGL %s\n", title, window.width, window.height,
            (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));
    return 1;
}

/* The first row of the picture is the top one. The first row of OpenGL is the bottom one. */
static void write_picture(const char *name)
{
    const size_t row = (size_t)window.width * 3;
    unsigned char *pixels = malloc(row * (size_t)window.height);
    FILE *file = fopen(name, "wb");
    if (!pixels || !file)
        pbuffer_fail("the picture can't be written");
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, window.width, window.height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    fprintf(file, "P6\n%d %d\n255\n", window.width, window.height);
    for (int y = window.height - 1; y >= 0; y--)
        fwrite(pixels + row * (size_t)y, row, 1, file);
    fclose(file);
    free(pixels);
}

static double finished(void)
{
    struct timespec now;
    glFinish();
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void glutSwapBuffers(void)
{
    const char *picture = getenv("GLUT_PICTURE");
    window.frames++;
    if (window.frames == window.last && window.began > 0)
        fprintf(stderr, "glut: %.1f frames per second\n",
                (window.last - window.last / 2) / (finished() - window.began));
    if (window.frames == window.last / 2)
        window.began = finished();
    if (window.frames == window.last && picture)
        write_picture(picture);
    pbuffer_swap();
}

void glutDestroyWindow(int id)
{
    (void)id;
    window.gone = true;
}

int glutGetWindow(void)
{
    return !window.gone;
}

void glutInitWindowSize(int width, int height)
{
    window.width = width;
    window.height = height;
}

/* ---- The loop -------------------------------------------------------------------------------- */

void glutInit(int *count, char **arguments)
{
    (void)count;
    (void)arguments;
    const char *frames = getenv("GLUT_FRAMES");
    if (frames)
        window.last = atoi(frames);
}

static void run_timers(void)
{
    for (int i = 0; i < MOST_TIMERS; i++) {
        struct timer timer = window.timers[i];
        if (!timer.call || timer.due > elapsed())
            continue;
        window.timers[i].call = NULL;
        timer.call(timer.value);
    }
}

void glutTimerFunc(unsigned delay, void (*call)(int), int value)
{
    int i = 0;
    while (i < MOST_TIMERS && window.timers[i].call)
        i++;
    if (i == MOST_TIMERS)
        pbuffer_fail("too many timers");
    window.timers[i] = (struct timer){call, value, elapsed() + (int)delay};
}

/* Draws even if the program requests no redraw: otherwise the last frame would never be reached. */
void glutMainLoop(void)
{
    if (window.reshape)
        window.reshape(window.width, window.height);
    while (!window.gone && window.frames < window.last) {
        const int before = window.frames;
        window.display();
        if (window.frames == before)
            glutSwapBuffers(); /* the pbuffer has only one buffer */
        run_timers();
        if (window.idle)
            window.idle();
    }
    if (window.close)
        window.close();
    exit(0);
}

void glutDisplayFunc(void (*call)(void))
{
    window.display = call;
}

void glutReshapeFunc(void (*call)(int, int))
{
    window.reshape = call;
}

void glutIdleFunc(void (*call)(void))
{
    window.idle = call;
}

void glutCloseFunc(void (*call)(void))
{
    window.close = call;
}

int glutGet(GLenum what)
{
    if (what == GLUT_ELAPSED_TIME)
        return elapsed();
    if (what == GLUT_WINDOW_WIDTH)
        return window.width;
    return what == GLUT_WINDOW_HEIGHT ? window.height : 0;
}

void glutReportErrors(void)
{
    for (GLenum error; (error = glGetError()) != GL_NO_ERROR;)
        fprintf(stderr, "glut: OpenGL error 0x%x\n", error);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void torus_point(double size, int around, int tube, int steps)
{
    const double turn = 2 * acos(-1) / steps;
    const double u = around * turn, v = tube * turn;
    const double radius = size * (0.75 + 0.4 * cos(v));
    glTexCoord2d((double)around / steps, (double)tube / steps);
    glNormal3d(cos(u) * cos(v), sin(u) * cos(v), sin(v));
    glVertex3d(radius * cos(u), radius * sin(u), size * 0.4 * sin(v));
}

void glutSolidTeapot(double size)
{
    enum { STEPS = 48 };
    for (int tube = 0; tube < STEPS; tube++) {
        glBegin(GL_TRIANGLE_STRIP);
        for (int around = 0; around <= STEPS; around++) {
            torus_point(size, around, tube + 1, STEPS);
            torus_point(size, around, tube, STEPS);
        }
        glEnd();
    }
}

/* ---- Not implemented: events, menus, text ---------------------------------------------------- */

void glutPostRedisplay(void)
{
}

void glutInitDisplayMode(unsigned mode)
{
    (void)mode;
}

void glutInitWindowPosition(int x, int y)
{
    (void)x;
    (void)y;
}

void glutSetWindowTitle(const char *title)
{
    (void)title;
}

void glutFullScreen(void)
{
}

void glutKeyboardFunc(void (*call)(unsigned char, int, int))
{
    (void)call;
}

void glutSpecialFunc(void (*call)(int, int, int))
{
    (void)call;
}

void glutMouseFunc(void (*call)(int, int, int, int))
{
    (void)call;
}

void glutMotionFunc(void (*call)(int, int))
{
    (void)call;
}

int glutGetModifiers(void)
{
    return 0;
}

int glutCreateMenu(void (*call)(int))
{
    (void)call;
    return 1;
}

void glutDestroyMenu(int menu)
{
    (void)menu;
}

int glutGetMenu(void)
{
    return 1;
}

void glutAddMenuEntry(const char *label, int value)
{
    (void)label;
    (void)value;
}

void glutAttachMenu(int button)
{
    (void)button;
}

void *glutBitmap9By15, *glutBitmapTimesRoman24;

void glutBitmapCharacter(void *font, int character)
{
    (void)font;
    (void)character;
}

/* Only used to look up OpenGL functions. The real libGLX would need the X libraries. */
void (*glXGetProcAddress(const GLubyte *name))(void);
void (*glXGetProcAddress(const GLubyte *name))(void)
{
    return eglGetProcAddress((const char *)name);
}
