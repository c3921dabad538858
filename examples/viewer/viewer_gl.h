/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the window shows: a scene, drawn by OpenGL. */
#ifndef VIEWER_GL_H
#define VIEWER_GL_H

#include <stddef.h>

#include "viewer_window.h"

struct viewer_options {
    int width, height;
    int scene; /* the first scene to show */
    int api;   /* an enum viewer_api */
    int frames;
    int mesh, particles, tensor_width, tensor_height;
    double time;
    bool borderless, paused;
    const char *still;
};

/* A frame to draw. */
struct viewer_frame {
    int width, height;
    int scene;
    float time;         /* the time in the scene, in seconds */
    struct orbit orbit; /* the input that moves the camera */
    /* receives the picture, 3 bytes per pixel (RGB), the top row first; NULL if it is not wanted */
    unsigned char *pixels;
};

struct viewer_gl;

/* The names of the scenes; NULL ends the list. */
extern const char *const viewer_scenes[];

/* Prints the devices that it uses. NULL after an error, which has been printed. */
struct viewer_gl *viewer_gl_open(const struct viewer_window *window,
                                 const struct viewer_options *options);

/* Draws a frame and shows it in the window. False after an error, which has been printed. */
bool viewer_gl_draw(struct viewer_gl *gl, const struct viewer_frame *frame);

/* Describes the frame for the title: the transport of the last frame, and the OpenGL context. */
void viewer_gl_describe(const struct viewer_gl *gl, char *text, size_t size);

/* Accepts NULL. */
void viewer_gl_close(struct viewer_gl *gl);

#endif
