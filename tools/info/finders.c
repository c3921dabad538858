/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/finders.h"

#include <stdlib.h>
#include <string.h>

static const struct finder {
    const char *name;
    void (*run)(const struct find *find);
} finders[] = {
    {"cuda", find_cuda},
    {"software", find_software},
    {"surroundings", find_surroundings},
    {"probe", find_probe},
#ifdef INFO_OPENGL
    {"bench", find_bench},
    {"egl", find_egl},
    {"glx", find_glx},
    {"opengl", find_opengl},
    {"renderer", find_renderer},
#endif
#ifdef INFO_VULKAN
    {"vulkan-devices", find_vulkan_devices},
    {"vulkan", find_vulkan},
#endif
};
#define FINDERS (sizeof(finders) / sizeof(finders[0]))

static const struct finder *find_finder(const char *name, size_t length)
{
    for (size_t i = 0; i < FINDERS; i++)
        if (strlen(finders[i].name) == length && strncmp(finders[i].name, name, length) == 0)
            return &finders[i];
    return NULL;
}

bool finders_have(const char *name)
{
    return find_finder(name, strlen(name));
}

bool finders_run(const char *finder, const char *root)
{
    size_t length = strcspn(finder, ":/");
    const struct finder *found = find_finder(finder, length);
    const char *argument = finder + length + (finder[length] != '\0');
    const struct find find = {.argument = argument, .device = atoi(argument), .root = root};
    if (found)
        found->run(&find);
    return found;
}
