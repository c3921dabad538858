/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * host PLUGIN WAY: a program with the shared library that loads a plug-in with the static one, and
 * unloads it, twice. WAY is what the program calls before: `nothing`, `fail` for a failing call of
 * both libraries, or `use` for a call after which the plug-in must stay loaded.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grinterop/gr.h>

static void *look_up(void *file, const char *name, void *function)
{
    void *found = dlsym(file, name);
    memcpy(function, &found, sizeof(found));
    return found;
}

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

static int check_errors(void *file)
{
    const char *(*plugin_fail)(void);
    char own[1024];
    if (!look_up(file, "plugin_fail", &plugin_fail))
        return fail("plugin_fail is missing");
    gr_clear_error();
    const char *message = plugin_fail();
    if (!*message || gr_last_error()->status != GR_OK)
        return fail("the error of the plug-in is in the library of the program");
    gr_map(NULL, GR_STREAM_NONE);
    snprintf(own, sizeof(own), "%s", gr_last_error()->message);
    plugin_fail();
    if (!*own || strcmp(own, gr_last_error()->message) != 0)
        return fail("the plug-in replaced the error of the program");
    return 0;
}

/* Catches: the child ran a fork handler of the unloaded plug-in. */
static int check_fork(void)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return fail("fork() failed after dlclose()");
    return 0;
}

/* Loads the plug-in, calls it and unloads it. */
static int visit(const char *path, const char *way)
{
    int (*plugin_use)(void);
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        return fail(dlerror());
    const bool use = strcmp(way, "use") == 0;
    if (strcmp(way, "fail") == 0 && check_errors(file) != 0)
        return 1;
    if (use && !(look_up(file, "plugin_use", &plugin_use) && plugin_use()))
        return fail("the plug-in cannot use grinterop");
    if (dlclose(file) != 0)
        return fail(dlerror());
    if (!dlopen(path, RTLD_NOW | RTLD_NOLOAD) == use)
        return fail(use ? "the plug-in was unloaded" : "the plug-in is still loaded");
    return check_fork();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fail("usage: host PLUGIN nothing|fail|use");
    return visit(argv[1], argv[2]) || visit(argv[1], argv[2]);
}
