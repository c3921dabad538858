/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How each driver call is written; see record.h. */
#include "record.h"

#include <stdio.h>
#include <string.h>

/*
 * A word for each argument: -            it is not written
 *                           #NAME %NAME  a number of 32 or 64 bits
 *                           &NAME        a mask or enum of 32 bits, in hexadecimal
 *                           NAME !NAME   an object of this kind, by a handle of 64 or 32 bits
 *                           ~NAME ~!NAME the same, and the call ends the object
 *                           *NAME ~*NAME a number of OpenGL names, and where they are: two
 * arguments Arguments after the last word are not written.
 */
static const struct {
    const char *name, *words;
} calls[] = {
    {"cuCtxSynchronize", ""},
    {"cuDestroyExternalMemory", "~external"},
    {"cuDestroyExternalSemaphore", "~semaphore"},
    {"cuDevicePrimaryCtxRelease", "#device"},
    {"cuDevicePrimaryCtxRetain", "- #device"},
    {"cuEventCreate", "- &flags"},
    {"cuEventDestroy", "~event"},
    {"cuEventRecord", "event stream"},
    {"cuEventSynchronize", "event"},
    {"cuGraphicsGLRegisterBuffer", "- !buffer &flags"},
    {"cuGraphicsGLRegisterImage", "- !texture &target &flags"},
    {"cuGraphicsResourceSetMapFlags", "registration &flags"},
    {"cuGraphicsSubResourceGetMappedArray", "- registration #layer #level"},
    {"cuGraphicsUnregisterResource", "~registration"},
    {"cuLaunchHostFunc", "stream"},
    {"cuLaunchKernel", "- #grid # # #block # # #shared stream"},
    {"cuMemAddressFree", "- %size"},
    {"cuMemAddressReserve", "- %size %alignment - &flags"},
    {"cuMemAlloc", "- %size"},
    {"cuMemAllocAsync", "- %size stream"},
    {"cuMemAllocHost", "- %size"},
    {"cuMemAllocManaged", "- %size &flags"},
    {"cuMemExportToShareableHandle", "- - &type &flags"},
    {"cuMemFree", ""},
    {"cuMemFreeAsync", "- stream"},
    {"cuMemFreeHost", ""},
    {"cuMemHostRegister", "- %size &flags"},
    {"cuMemHostUnregister", ""},
    {"cuMemImportFromShareableHandle", "- - &type"},
    {"cuMemMap", "- %size %offset - &flags"},
    {"cuMemRelease", ""},
    {"cuMemUnmap", "- %size"},
    {"cuMemcpyAsync", "- - %size stream"},
    {"cuMemcpyDtoDAsync", "- - %size stream"},
    {"cuMemcpyDtoH", "- - %size"},
    {"cuMemcpyDtoHAsync", "- - %size stream"},
    {"cuMemcpyHtoDAsync", "- - %size stream"},
    {"cuMemcpyPeerAsync", "- - - - %size stream"},
    {"cuMemsetD16Async", "- #value %count stream"},
    {"cuMemsetD32Async", "- #value %count stream"},
    {"cuMemsetD8Async", "- #value %count stream"},
    {"cuMipmappedArrayDestroy", ""},
    {"cuStreamCreate", "- &flags"},
    {"cuStreamDestroy", "~stream"},
    {"cuStreamSynchronize", "stream"},
    {"cuStreamWaitEvent", "stream event &flags"},
    {"cuSurfObjectDestroy", ""},
    {"cuTexObjectDestroy", ""},
    {"glBindBuffersRange", "&target #first #count"},
    {"glBlitFramebuffer", "#x0 #y0 #x1 #y1 #tox0 #toy0 #tox1 #toy1 &mask &filter"},
    {"glBufferData", "&target %size - &usage"},
    {"glBufferSubData", "&target %offset %size"},
    {"glClearTexSubImage", "!texture #level #x #y #z #width #height #depth &format &type"},
    {"glClientWaitSync", "sync &flags %timeout"},
    {"glCopyBufferSubData", "&from &to %offset %offset %size"},
    {"glCopyImageSubData", "!texture &target #level #x #y #z !texture &target #level #x #y #z"
                           " #width #height #depth"},
    {"glCopyNamedBufferSubData", "!buffer !buffer %offset %offset %size"},
    {"glDeleteBuffers", "~*buffer"},
    {"glDeleteMemoryObjectsEXT", "~*memory"},
    {"glDeleteRenderbuffers", "~*renderbuffer"},
    {"glDeleteSemaphoresEXT", "~*semaphore"},
    {"glDeleteSync", "~sync"},
    {"glDeleteTextures", "~*texture"},
    {"glDispatchCompute", "#x #y #z"},
    {"glFenceSync", "&condition &flags"},
    {"glFinish", ""},
    {"glFlush", ""},
    {"glGetBufferSubData", "&target %offset %size"},
    {"glGetTexImage", "&target #level &format &type"},
    {"glGetTextureSubImage", "!texture #level #x #y #z #width #height #depth &format &type #size"},
    {"glImportMemoryFdEXT", "!memory %size &type"},
    {"glImportSemaphoreFdEXT", "!semaphore &type"},
    {"glMapBufferRange", "&target %offset %size &access"},
    {"glMapNamedBufferRange", "!buffer %offset %size &access"},
    {"glMemoryBarrier", "&barriers"},
    {"glNamedBufferData", "!buffer %size - &usage"},
    {"glNamedBufferStorage", "!buffer %size - &flags"},
    {"glNamedBufferStorageMemEXT", "!buffer %size !memory %offset"},
    {"glProgramUniform2ui", "- #location #x #y"},
    {"glReadPixels", "#x #y #width #height &format &type"},
    {"glRenderbufferStorage", "&target &format #width #height"},
    {"glSignalSemaphoreEXT", "!semaphore *buffer *texture"},
    {"glTexSubImage2D", "&target #level #x #y #width #height &format &type"},
    {"glTexSubImage3D", "&target #level #x #y #z #width #height #depth &format &type"},
    {"glTextureStorage2D", "!texture #levels &format #width #height"},
    {"glTextureStorage2DMultisample", "!texture #samples &format #width #height"},
    {"glTextureStorage3D", "!texture #levels &format #width #height #depth"},
    {"glTextureStorageMem2DEXT", "!texture #levels &format #width #height !memory %offset"},
    {"glTextureStorageMem3DEXT", "!texture #levels &format #width #height #depth !memory %offset"},
    {"glUnmapBuffer", "&target"},
    {"glUnmapNamedBuffer", "!buffer"},
    {"glWaitSemaphoreEXT", "!semaphore *buffer *texture"},
    {"vkBindBufferMemory", "- buffer memory %offset"},
    {"vkBindImageMemory", "- image memory %offset"},
    {"vkDestroyBuffer", "- ~buffer"},
    {"vkDestroyImage", "- ~image"},
    {"vkDestroySemaphore", "- ~vk-semaphore"},
    {"vkFreeMemory", "- ~memory"},
    {"vkMapMemory", "- memory %offset %size &flags"},
    {"vkQueueWaitIdle", ""},
    {"vkResetCommandPool", "- pool &flags"},
};

/* Calls that read the state of a driver or set state that grinterop restores afterwards. */
static const char *const left_out[] = {
    "cuCtxEnable",
    "cuCtxGet",
    "cuCtxPop",
    "cuCtxPush",
    "cuCtxSet",
    "cuDeviceCan",
    "cuDeviceGet",
    "cuDriverGet",
    "cuEventQuery",
    "cuFunc",
    "cuGet",
    "cuGLGet",
    "cuInit",
    "cuMemGet",
    "cuMemRetain",
    "cuMipmappedArrayGetLevel",
    "cuPointerGet",
    "cuStreamGet",
    "cuStreamIs",
    "cuArray3DGet",
    "cuGraphicsResourceGet",
    "cuLibrary",
    "cuModule",
    "cuThread",
    "eglGet",
    "eglQuery",
    "glActive",
    "glBeginCond",
    "glBind",
    "glCheck",
    "glClamp",
    "glCreate",
    "glDelete",
    "glDisable",
    "glEnable",
    "glEndCond",
    "glFramebuffer",
    "glGen",
    "glGet",
    "glHint",
    "glIs",
    "glMemoryObjectParam",
    "glNamedFramebuffer",
    "glObjectLabel",
    "glPixel",
    "glProgram",
    "glReadBuffer",
    "glSamplerParam",
    "glShaderSource",
    "glTexParam",
    "glTextureParam",
    "glUse",
    "vkEndCommandBuffer",
    "vkEnumerate",
    "vkGet",
};

static bool is_left_out(const char *name)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
        if (strncmp(name, left_out[i], strlen(left_out[i])) == 0)
            return true;
    return false;
}

static const char *words_of(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].words;
    return NULL;
}

/* Objects keep the pointer to the name of their kind. */
static const char *kind_named(const char *name)
{
    static const char *const kinds[] = {"buffer",       "commands",    "event",  "external",
                                        "image",        "memory",      "pool",   "registration",
                                        "renderbuffer", "semaphore",   "stream", "sync",
                                        "texture",      "vk-semaphore"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i], name) == 0)
            return kinds[i];
    return "object";
}

static void put_names(const struct call_seen *call, unsigned index, const char *kind, bool ends)
{
    const unsigned *names = ARG_TO(unsigned, index + 1);
    for (int i = 0; i < ARG_INT(index); i++) {
        put_object(kind, names[i]);
        if (ends)
            forget_object(kind, names[i]);
    }
}

/* Returns the number of arguments that the word describes. */
static unsigned put_word(const struct call_seen *call, const char *word, unsigned index)
{
    const unsigned long value = ARG(index);
    const bool ends = *word == '~';
    word += ends;
    if (*word == '-') {
    } else if (*word == '#') {
        put(" %s%s%d", word + 1, word[1] ? "=" : "", (int)value);
    } else if (*word == '%') {
        put(" %s=%ld", word + 1, (long)value);
    } else if (*word == '&') {
        put(" %s=0x%x", word + 1, (unsigned)value);
    } else if (*word == '*') {
        put_names(call, index, kind_named(word + 1), ends);
        return 2;
    } else {
        const uint64_t handle = *word == '!' ? (unsigned)value : value;
        const char *kind = kind_named(word + (*word == '!'));
        put_object(kind, handle);
        if (ends)
            forget_object(kind, handle);
    }
    return 1;
}

static void put_words(const struct call_seen *call, const char *words)
{
    char word[32];
    int size = 0;
    for (unsigned index = 0; sscanf(words, " %31s%n", word, &size) == 1; words += size)
        index += put_word(call, word, index);
}

/* The end of the object 0 has no effect. */
static bool ends_nothing(const struct call_seen *call, const char *words)
{
    unsigned index = 0;
    for (; strncmp(words, "- ", 2) == 0; words += 2)
        index++;
    const bool is_short = strncmp(words, "~!", 2) == 0;
    return words[0] == '~' && words[1] != '*' &&
           (is_short ? (unsigned)ARG(index) == 0 : ARG(index) == 0);
}

bool put_call(const struct call_seen *call, bool here)
{
    const char *words = words_of(call->name);
    write_call *write = words ? NULL : cuda_writer(call->name);
    if (!words && !write)
        write = vulkan_writer(call->name);
    /* A thread that waits for a semaphore looks at it again after a time. */
    if (!here && strcmp(call->name, "vkWaitSemaphores") == 0)
        return false;
    if (words ? ends_nothing(call, words) : !write && is_left_out(call->name))
        return false;
    put("%s", call->name);
    if (words)
        put_words(call, words);
    else if (write)
        write(call);
    return true;
}
