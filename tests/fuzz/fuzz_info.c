/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The input of grinterop-info: system files below a folder, the environment variables of
 * containers, the manifests of EGL drivers, and the lines that its own finder processes print.
 * Whatever these contain, no finding may be lost and the report must be JSON.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gl/context/egl_device.h"
#include "tools/info/report.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- A JSON parser --------------------------------------------------------------------------- */

static const char *value_end(const char *at);

static const char *blanks_end(const char *at)
{
    return at + strspn(at, " \n\r\t");
}

/* Returns the end of one UTF-8 character, checked bit by bit. NULL if the character is invalid. */
static const char *character_end(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    unsigned more = c[0] < 0x80       ? 0
                    : c[0] >> 5 == 6  ? 1
                    : c[0] >> 4 == 14 ? 2
                    : c[0] >> 3 == 30 ? 3
                                      : 9;
    if (more == 9)
        return NULL;
    uint32_t code = more ? c[0] & (0x3fu >> more) : c[0];
    for (unsigned i = 1; i <= more; i++) {
        if (c[i] >> 6 != 2)
            return NULL;
        code = code << 6 | (c[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    bool good = code >= least[more] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return good ? at + 1 + more : NULL;
}

static const char *string_end(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (at && *at != '"') {
        if ((unsigned char)*at < ' ')
            return NULL;
        if (*at != '\\')
            at = character_end(at);
        else if (at[1] == 'u')
            at = strspn(at + 2, "0123456789abcdefABCDEF") >= 4 ? at + 6 : NULL;
        else
            at = at[1] && strchr("\"\\/bfnrt", at[1]) ? at + 2 : NULL;
    }
    return at ? at + 1 : NULL;
}

/* Returns the end of the comma-separated content of braces or brackets. */
static const char *list_end(const char *at, char close, bool named)
{
    at = blanks_end(at + 1);
    if (*at == close)
        return at + 1;
    for (;;) {
        if (named && (!(at = string_end(at)) || *(at = blanks_end(at)) != ':'))
            return NULL;
        at = value_end(blanks_end(at + named));
        if (!at)
            return NULL;
        at = blanks_end(at);
        if (*at == close)
            return at + 1;
        if (*at != ',')
            return NULL;
        at = blanks_end(at + 1);
    }
}

static const char *value_end(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    if (*at == '{' || *at == '[')
        return list_end(at, *at == '{' ? '}' : ']', *at == '{');
    if (*at == '"')
        return string_end(at);
    for (size_t i = 0; i < COUNT(words); i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    size_t digits = strspn(at, "0123456789");
    return digits ? at + digits : NULL;
}

/* ---- The report ------------------------------------------------------------------------------ */

/* Prints the report into memory. The caller frees the memory. */
static char *printed(void (*print)(const struct report *report), const struct report *report)
{
    char *text = NULL;
    size_t size;
    FILE *kept = stdout;
    stdout = open_memstream(&text, &size);
    FUZZ_CHECK(stdout);
    print(report);
    fclose(stdout);
    stdout = kept;
    FUZZ_CHECK(strlen(text) == size);
    return text;
}

static void print_screen(const struct report *report)
{
    report_print_screen(report, true);
}

static void check_report(struct report *report)
{
    char *json = printed(report_print_json, report), *screen = printed(print_screen, report);
    const char *end = value_end(json);
    FUZZ_CHECK(end && strcmp(end, "\n") == 0);
    FUZZ_CHECK(*screen);
    free(json);
    free(screen);
}

static size_t facts_of(const struct findings *findings)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        count += finding->fact_count;
        for (size_t fact = 0; fact < finding->fact_count; fact++)
            FUZZ_CHECK(finding_fact(finding, finding->facts[fact].key));
    }
    return count;
}

static size_t lines_of(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

/* ---- Lines of a finder ----------------------------------------------------------------------- */

static void read_lines(struct fuzz_input *in)
{
    struct report report = {.driver = "soft", .probed = fuzz_below(in, 2)};
    struct findings *findings = &report.sections[fuzz_below(in, SECTIONS)];
    size_t size, lines;
    const unsigned char *bytes = fuzz_bytes(in, in->left, &size);
    char *text = fuzz_text(bytes, size);
    lines = lines_of(text);
    findings_take(findings, text);
    FUZZ_CHECK(findings->count + facts_of(findings) <= lines);
    check_report(&report);
    findings_free(findings);
}

/* ---- The system ------------------------------------------------------------------------------ */

static char root[] = "/tmp/grinterop-fuzz-XXXXXX";
static int said; /* the file that receives the output of the finders */

static const char *const files[] = {
    "/proc/driver/nvidia/version",
    "/proc/sys/kernel/osrelease",
    "/sys/class/drm/card0/device/vendor",
    "/sys/class/drm/card1/device/vendor",
    "/sys/module/nouveau",
    "/etc/prime-discrete",
    "/.dockerenv",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/dev/nvidia-uvm",
    "/dev/nvmap",
};
static const char *const variables[] = {"NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES",
                                        "container", "EGL_PLATFORM"};

static void path_of(const char *name, char path[200])
{
    snprintf(path, 200, "%s%s", root, name);
}

/* Returns one part of the input: a size byte, and as many bytes after it. */
static const unsigned char *part(struct fuzz_input *in, size_t *size)
{
    return fuzz_bytes(in, fuzz_byte(in), size);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

static void make_system(struct fuzz_input *in)
{
    unsigned there = (unsigned)fuzz_number(in, 2);
    for (size_t i = 0; i < COUNT(files); i++) {
        char path[200];
        size_t size = 0;
        path_of(files[i], path);
        if (!(there >> i & 1)) {
            unlink(path);
            continue;
        }
        const unsigned char *bytes = i < 6 ? part(in, &size) : NULL;
        write_file(path, size ? bytes : (const unsigned char *)"", size);
    }
}

static void set_variable(struct fuzz_input *in, const char *name)
{
    size_t size;
    const unsigned char *bytes = part(in, &size);
    char *text = fuzz_text(bytes, size);
    if (*text)
        setenv(name, text, 1);
    else
        unsetenv(name);
    free(text);
}

static char *read_output(void)
{
    off_t size = lseek(said, 0, SEEK_CUR);
    char *text = calloc(1, (size_t)size + 1);
    FUZZ_CHECK(text && pread(said, text, (size_t)size, 0) == size);
    FUZZ_CHECK(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0);
    return text;
}

/* Each line that a finder prints must be parsed as a finding or as a fact. */
static void find_in_system(struct fuzz_input *in)
{
    const struct find find = {.argument = "", .root = root};
    struct report report = {.driver = ""};
    struct findings *findings = &report.sections[SECTION_SURROUNDINGS];
    make_system(in);
    for (size_t i = 0; i < COUNT(variables); i++)
        set_variable(in, variables[i]);
    find_surroundings(&find);
    char *text = read_output();
    size_t lines = lines_of(text);
    findings_take(findings, text);
    FUZZ_CHECK(lines > 0 && findings->count + facts_of(findings) == lines);
    check_report(&report);
    findings_free(findings);
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
}

/* ---- EGL drivers ----------------------------------------------------------------------------- */

#define DRIVER_FILES   "__EGL_VENDOR_LIBRARY_FILENAMES"
#define DRIVER_FOLDERS "__EGL_VENDOR_LIBRARY_DIRS"

static void read_manifest(struct fuzz_input *in)
{
    char path[200], list[1024];
    size_t size, room = fuzz_below(in, 2) ? 1501 : 1;
    room += fuzz_byte(in);
    bool folders = fuzz_below(in, 4) == 0;
    bool software = fuzz_below(in, 2);
    const unsigned char *more = part(in, &size);
    char *names = fuzz_text(more, size);
    path_of("/egl/10_mesa.json", path);
    write_file(path, in->at ? in->at : (const unsigned char *)"", in->left);
    if (folders)
        *strrchr(path, '/') = '\0';
    snprintf(list, sizeof(list), "%s:%s", path, names);
    setenv(folders ? DRIVER_FOLDERS : DRIVER_FILES, list, 1);
    char *text = malloc(room);
    FUZZ_CHECK(text);
    egl_vendor_advise(software, text, room);
    FUZZ_CHECK(strnlen(text, room) < room);
    unsetenv(folders ? DRIVER_FOLDERS : DRIVER_FILES);
    free(names);
    free(text);
}

/* ---- The target ------------------------------------------------------------------------------ */

static void run(struct fuzz_input in)
{
    switch (fuzz_below(&in, 3)) {
    case 0:
        read_lines(&in);
        break;
    case 1:
        find_in_system(&in);
        break;
    default:
        read_manifest(&in);
        break;
    }
}

static void make_folders(const char *name)
{
    char path[200];
    path_of(name, path);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        FUZZ_CHECK(mkdir(path, 0700) == 0 || access(path, F_OK) == 0);
        *slash = '/';
    }
}

static void remove_root(void)
{
    char command[100];
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    if (system(command) != 0)
        fprintf(stderr, "%s was not removed\n", root);
}

/* Finders write to the standard output stream that is open when they start. */
static void set_up(void)
{
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    said = memfd_create("said", MFD_CLOEXEC);
    FUZZ_CHECK(said >= 0 && dup2(said, STDOUT_FILENO) >= 0);
    FUZZ_CHECK(say_begin());
    dup2(kept, STDOUT_FILENO);
    close(kept);
    FUZZ_CHECK(mkdtemp(root));
    atexit(remove_root);
    for (size_t i = 0; i < COUNT(files); i++)
        make_folders(files[i]);
    make_folders("/egl/");
    /* Only the drivers that an input names may be loaded. */
    unsetenv(DRIVER_FILES);
    unsetenv(DRIVER_FOLDERS);
}

const struct fuzz_target fuzz_info = {"info", set_up, run};
