/* SPDX-License-Identifier: Apache-2.0 */
/* Who has the machine's GPUs. */
#include "tools/info/surroundings.h"

#include <string.h>

#include "tools/info/rooted.h"
#include "tools/info/say.h"

#define NVIDIA_VENDOR "0x10de"

/* Whether a card is NVIDIA's (or, with false, another maker's). */
static bool has_card(const glob_t *files, bool nvidia)
{
    char vendor[32];
    for (size_t i = 0; i < files->gl_pathc; i++)
        if (rooted_line("", files->gl_pathv[i], vendor, sizeof(vendor)) &&
            (strcmp(vendor, NVIDIA_VENDOR) == 0) == nvidia)
            return true;
    return false;
}

static void say_two_makers(const glob_t *cards)
{
    if (has_card(cards, true) && has_card(cards, false))
        say("surroundings/optimus", MARK_NOTE, "GPUs of two makers",
            "Windows may be drawn by the other one. A program draws on NVIDIA's with "
            "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia, or without a window by "
            "gr_egl_create().");
}

/* The free driver, which has no CUDA, keeps NVIDIA's from the card. */
static void say_nouveau(const char *root, const glob_t *cards)
{
    if (has_card(cards, true) && rooted_is_there(root, "/sys/module/nouveau") &&
        !rooted_is_there(root, "/proc/driver/nvidia/version"))
        say("surroundings/nouveau", MARK_BAD, "nouveau has the GPU",
            "CUDA works with NVIDIA's own driver in the kernel only: install it, which keeps "
            "nouveau from being loaded, and restart.");
}

/* Ubuntu's switch between the two GPUs of a laptop writes it. */
static void say_switched_off(const char *root)
{
    char line[32];
    if (rooted_line(root, "/etc/prime-discrete", line, sizeof(line)) &&
        (strcmp(line, "off") == 0 || strcmp(line, "intel") == 0))
        say("surroundings/prime", MARK_BAD, "the NVIDIA GPU is switched off",
            "prime-select on-demand, by root, and a restart switch it on.");
}

void say_gpus(const char *root)
{
    glob_t cards;
    rooted_glob(root, "/sys/class/drm/card*/device/vendor", &cards);
    say_two_makers(&cards);
    say_nouveau(root, &cards);
    say_switched_off(root);
    if (cards.gl_pathc)
        globfree(&cards);
}
