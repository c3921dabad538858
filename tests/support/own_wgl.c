/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "own_wgl.h"

#include <stddef.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* These constants are from WGL_ARB_create_context and WGL_ARB_create_context_profile. */
#define MAJOR_VERSION 0x2091
#define MINOR_VERSION 0x2092
#define PROFILE_MASK  0x9126
#define CORE_PROFILE  1

typedef HGLRC(WINAPI *create_fn)(HDC dc, HGLRC share, const int *attributes);

#define CLASS_NAME "grinterop's test of WGL"

static HWND make_window(void)
{
    WNDCLASSA class = {.style = CS_OWNDC,
                       .lpfnWndProc = DefWindowProcA,
                       .hInstance = GetModuleHandleA(NULL),
                       .lpszClassName = CLASS_NAME};
    RegisterClassA(&class); /* fails if the class is already registered */
    return CreateWindowA(CLASS_NAME, CLASS_NAME, WS_OVERLAPPED, 0, 0, 64, 64, NULL, NULL,
                         class.hInstance, NULL);
}

static BOOL choose_pixels(HDC dc)
{
    PIXELFORMATDESCRIPTOR wanted = {.nSize = sizeof(wanted),
                                    .nVersion = 1,
                                    .dwFlags =
                                        PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL | PFD_DOUBLEBUFFER,
                                    .iPixelType = PFD_TYPE_RGBA,
                                    .cColorBits = 32};
    int format = ChoosePixelFormat(dc, &wanted);
    return format && SetPixelFormat(dc, format, &wanted);
}

/* The function that creates newer contexts can only be looked up while a context is current. */
static HGLRC make_context(HDC dc)
{
    static const int attributes[] = {MAJOR_VERSION, 4, MINOR_VERSION, 5, PROFILE_MASK,
                                     CORE_PROFILE,  0};
    create_fn create = NULL;
    HGLRC old = wglCreateContext(dc), made = NULL;
    if (old && wglMakeCurrent(dc, old)) {
        PROC found = wglGetProcAddress("wglCreateContextAttribsARB");
        memcpy(&create, &found, sizeof(create));
        made = create ? create(dc, NULL, attributes) : NULL;
        wglMakeCurrent(NULL, NULL);
    }
    if (old)
        wglDeleteContext(old);
    return made;
}

const char *own_wgl_open(struct own_wgl *own)
{
    const char *wrong = NULL;
    *own = (struct own_wgl){.window = make_window()};
    if (own->window)
        own->dc = GetDC(own->window);
    if (!own->dc)
        wrong = "the window cannot be created: is there a display?";
    else if (!choose_pixels(own->dc))
        wrong = "the window has no pixel format for OpenGL";
    else if (!(own->context = make_context(own->dc)))
        wrong = "the window provides no OpenGL 4.5";
    else if (!wglMakeCurrent(own->dc, own->context))
        wrong = "the context cannot be made current";
    if (wrong)
        own_wgl_close(own);
    return wrong;
}

void own_wgl_make_current(const struct own_wgl *own)
{
    wglMakeCurrent(own ? own->dc : NULL, own ? own->context : NULL);
}

void own_wgl_show(const struct own_wgl *own, int *width, int *height)
{
    RECT inner = {0};
    SetWindowPos(own->window, HWND_TOPMOST, 40, 40, 400, 300, SWP_SHOWWINDOW);
    UpdateWindow(own->window);
    GetClientRect(own->window, &inner);
    *width = (int)inner.right;
    *height = (int)inner.bottom;
}

void own_wgl_swap(const struct own_wgl *own)
{
    MSG message;
    SwapBuffers(own->dc);
    while (PeekMessageA(&message, own->window, 0, 0, PM_REMOVE))
        DispatchMessageA(&message);
    Sleep(50);
}

unsigned own_wgl_color(const struct own_wgl *own, int x, int y)
{
    POINT at = {x, y};
    ClientToScreen(own->window, &at);
    HDC screen = GetDC(NULL);
    COLORREF color = GetPixel(screen, at.x, at.y);
    ReleaseDC(NULL, screen);
    return (unsigned)GetRValue(color) << 16 | (unsigned)GetGValue(color) << 8 | GetBValue(color);
}

void own_wgl_close(struct own_wgl *own)
{
    if (own->context && wglGetCurrentContext() == own->context)
        wglMakeCurrent(NULL, NULL);
    if (own->context)
        wglDeleteContext(own->context);
    if (own->dc)
        ReleaseDC(own->window, own->dc);
    if (own->window)
        DestroyWindow(own->window);
    *own = (struct own_wgl){0};
}
