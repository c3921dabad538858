/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *words;
} apis[] = {
    [PROBE_OPENGL] = {"opengl", "OpenGL on CUDA device"},
    [PROBE_RENDERER] = {"renderer", "OpenGL on EGL device"},
    [PROBE_GLX] = {"glx", "OpenGL of the display"},
    [PROBE_VULKAN] = {"vulkan", "Vulkan on CUDA device"},
    [PROBE_CUDA] = {"cuda", "CUDA devices"},
};
#define APIS (sizeof(apis) / sizeof(apis[0]))

/* ---- The id ---------------------------------------------------------------------------------- */

/* CUDA's device, unless the id has another one. */
static int usual_device(const struct probe *probe)
{
    return probe->api == PROBE_RENDERER || probe->api == PROBE_GLX ? 0 : probe->device;
}

void probe_id(const struct probe *probe, char *id, size_t size)
{
    char cuda[24] = "";
    if (probe->cuda_device != usual_device(probe))
        snprintf(cuda, sizeof(cuda), "cuda/%d/", probe->cuda_device);
    snprintf(id, size, "probe/%s%s/%d/%s%s", probe->software ? "software/" : "",
             apis[probe->api].name, probe->device, cuda, probe->what);
}

/* Passes the word and the slash behind it, if the text begins so. */
static bool pass(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0 || (*text)[length] != '/')
        return false;
    *text += length + 1;
    return true;
}

static bool pass_number(const char **text, int *number)
{
    char *end;
    *number = (int)strtol(*text, &end, 10);
    if (end == *text || *end != '/')
        return false;
    *text = end + 1;
    return true;
}

static bool pass_api(const char **text, enum probe_api *api)
{
    for (size_t i = 0; i < APIS; i++) {
        *api = (enum probe_api)i;
        if (pass(text, apis[i].name))
            return true;
    }
    return false;
}

bool probe_parse(const char *id, struct probe *probe)
{
    *probe = (struct probe){.software = pass(&id, "software")};
    if (!pass_api(&id, &probe->api) || !pass_number(&id, &probe->device))
        return false;
    probe->cuda_device = usual_device(probe);
    if (pass(&id, "cuda") && !pass_number(&id, &probe->cuda_device))
        return false;
    snprintf(probe->what, sizeof(probe->what), "%s", id);
    return true;
}

/* ---- For people ------------------------------------------------------------------------------ */

static const struct {
    const char *what, *words;
} things[] = {
    {"buffer/interop", "its buffer is CUDA's, too (interop)"},
    {"buffer/shared", "a buffer in storage for both (shared)"},
    {"buffer/copy", "a buffer by way of host memory (copy)"},
    {"buffer/peer", "a buffer from GPU to GPU (peer)"},
    {"image/interop", "its texture is CUDA's, too (interop)"},
    {"image/shared", "a texture in storage for both (shared)"},
    {"image/copy", "a texture by way of host memory (copy)"},
    {"buffer", "a buffer that CUDA imports"},
    {"image", "an image that CUDA imports"},
    {"peer", "each reaches the memory of the other one"},
    {"ring", "a ring with several frames under way"},
};

static const char *words_of(const char *what)
{
    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
        if (strcmp(things[i].what, what) == 0)
            return things[i].words;
    return what;
}

void probe_label(const struct probe *probe, char *label, size_t size)
{
    char cuda[40] = "", device[16] = "";
    if (probe->api != PROBE_GLX)
        snprintf(device, sizeof(device), " %d", probe->device);
    if (probe->cuda_device != usual_device(probe))
        snprintf(cuda, sizeof(cuda), probe->api == PROBE_CUDA ? " and %d" : ", CUDA on %d",
                 probe->cuda_device);
    snprintf(label, size, "%s%s%s%s: %s", probe->software ? "the software driver, " : "",
             apis[probe->api].words, device, cuda, words_of(probe->what));
}
