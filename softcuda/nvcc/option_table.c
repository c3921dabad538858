/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/option_table.h"

#include <stddef.h>
#include <string.h>

#include "softcuda/nvcc/libraries.h"

static void ignore(options *o, const option *option, const char *value)
{
    (void)o, (void)option, (void)value;
}

static void set_phase(options *o, const option *option, const char *value)
{
    (void)value;
    const char *letters = "lcEMda"; /* one letter per phase, in the order of enum phase */
    o->phase = (enum phase)(strchr(letters, option->word[0]) - letters);
    o->phase_option = option->name;
    o->separate = o->separate || option->word[1] == 's';
}

/* The member of `o` that an option sets. */
#define MEMBER(type) ((type *)(void *)((char *)o + option->member))

static void set_text(options *o, const option *option, const char *value)
{
    *MEMBER(const char *) = value;
}

static void set_flag(options *o, const option *option, const char *value)
{
    (void)value;
    *MEMBER(bool) = true;
}

static void set_dependencies(options *o, const option *option, const char *value)
{
    (void)value;
    o->dependency_kind = option->name;
}

static void set_forward(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    o->to_compiler = o->to_linker = true;
}

static void add_word(options *o, const option *option, const char *value)
{
    (void)value;
    words_add(MEMBER(words), option->word);
}

/* Adds the whole value, which may contain commas. */
static void add_value(options *o, const option *option, const char *value)
{
    words_add(MEMBER(words), keep_text("%s%s", option->word, value));
}

static void add_options(options *o, const option *option, const char *value)
{
    words_add_options(MEMBER(words), value);
}

/* Adds each part of the value: nvcc accepts several paths or names, separated by commas. */
static void add_preprocess(options *o, const option *option, const char *value)
{
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++) {
        words_add(&o->preprocess, option->word);
        words_add(&o->preprocess, parts.items[i]);
    }
}

static void set_optimisation(options *o, const option *option, const char *value)
{
    (void)option;
    o->optimised = true;
    words_add(&o->compile, keep_text("-O%s", value));
}

static void set_device_debug(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    o->optimised = true;
    words_add(&o->compile, "-g");
    words_add(&o->compile, "-O0");
}

/* Uses at least C++17, which the header for kernels needs. Newer standards are passed on. */
static void set_standard(options *o, const option *option, const char *value)
{
    (void)option;
    const char *digits = value + strcspn(value, "0123456789");
    bool old = strncmp(digits, "03", 2) == 0 || strncmp(digits, "98", 2) == 0 ||
               strncmp(digits, "11", 2) == 0 || strncmp(digits, "14", 2) == 0;
    words_add(&o->compile, old ? "-std=c++17" : keep_text("-std=%s", value));
}

static void add_compiler_words(options *o, const option *option, const char *value)
{
    words parts = {0};
    words_add_options(&parts, value);
    for (size_t i = 0; i < parts.count; i++)
        o->optimised = o->optimised || begins_with(parts.items[i], "-O");
    words_add_all(&o->compile, &parts);
    (void)option;
}

static void add_linker_words(options *o, const option *option, const char *value)
{
    (void)option;
    words parts = {0};
    words_add_options(&parts, value);
    for (size_t i = 0; i < parts.count; i++) {
        words_add(&o->link, "-Xlinker");
        words_add(&o->link, parts.items[i]);
    }
}

static void add_option_file(options *o, const option *option, const char *value)
{
    (void)option;
    words_add_parts(&o->files, value);
}

static void add_folder(options *o, const option *option, const char *value)
{
    (void)option;
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++)
        words_add(&o->link, keep_text("-L%s", parts.items[i]));
}

static void add_library_name(options *o, const char *name)
{
    const char *const ours[] = {"cudart", "cudart_static", "cudadevrt", "cudart_builtin", NULL};
    for (const char *const *l = ours; *l; l++)
        if (strcmp(name, *l) == 0)
            return;
    if (library_refusal(name))
        die("-l%s: %s", name, library_refusal(name));
    words_add(&o->link, keep_text("-l%s", name));
}

static void add_library(options *o, const option *option, const char *value)
{
    (void)option;
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++)
        add_library_name(o, parts.items[i]);
}

static void set_shared(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    o->shared = true;
    words_add(&o->link, "-shared");
}

static void set_relocatable(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    o->relocatable = true;
    words_add(&o->link, "-r");
    words_add(&o->link, "-nostdlib");
}

static void set_rdc(options *o, const option *option, const char *value)
{
    (void)option;
    o->separate = strcmp(value, "true") == 0;
}

static void set_machine(options *o, const option *option, const char *value)
{
    (void)o, (void)option;
    if (strcmp(value, "64") != 0)
        die("-m%s: CUDA supports only 64-bit programs", value);
}

static void set_machine_32(options *o, const option *option, const char *value)
{
    (void)value;
    set_machine(o, option, "32");
}

static void set_stream(options *o, const option *option, const char *value)
{
    (void)option;
    if (strcmp(value, "per-thread") == 0)
        words_add(&o->preprocess, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
}

static void refuse_gpu_code(options *o, const option *option, const char *value)
{
    (void)o, (void)value;
    die("%s requests GPU code, which only nvcc generates. For cuModuleLoad without a GPU, compile "
        "the kernels with grinterop/cuhost.h (see softcuda.md). To build a program, remove the "
        "option",
        option->name);
}

static void refuse_list(options *o, const option *option, const char *value)
{
    (void)o, (void)value;
    die("%s lists the GPUs that nvcc generates code for, but grinterop-nvcc generates code for the "
        "CPU: remove the option",
        option->name);
}

static void refuse_script(options *o, const option *option, const char *value)
{
    (void)o;
    if (strcmp(value, "gen-lcs") == 0)
        die("%s=%s writes a script for linking device code, but object files contain none here: "
            "remove both",
            option->name, value);
}

#define ROW(name, long_name, takes, act, member, word, help)                                       \
    {                                                                                              \
        "-" name, "--" long_name, takes, act, member, word, help                                   \
    }
#define OPTION(name, long_name, takes, act, word, help)                                            \
    ROW(name, long_name, takes, act, 0, word, help)
#define MEMBER_OPTION(name, long_name, takes, act, member, word, help)                             \
    ROW(name, long_name, takes, act, offsetof(options, member), word, help)
#define PHASE(name, long_name, word, help)                                                         \
    OPTION(name, long_name, TAKES_NOTHING, set_phase, word, help)
#define FLAG(name, long_name, member, help)                                                        \
    MEMBER_OPTION(name, long_name, TAKES_NOTHING, set_flag, member, NULL, help)
#define TEXT(name, long_name, member, help)                                                        \
    MEMBER_OPTION(name, long_name, TAKES_VALUE, set_text, member, NULL, help)
#define WORD(name, long_name, member, word, help)                                                  \
    MEMBER_OPTION(name, long_name, TAKES_NOTHING, add_word, member, word, help)
#define REFUSED(name, long_name, act)                                                              \
    OPTION(name, long_name, TAKES_NOTHING, act, NULL, "refused: it is about GPU code")
/* An option about GPU code or Windows, which is accepted without an effect. */
#define IGNORED(name, long_name, takes) OPTION(name, long_name, takes, ignore, NULL, NULL)

const option option_table[] = {
    TEXT("o", "output-file", output, "FILE: the output file"),
    TEXT("odir", "output-directory", output_dir, "FOLDER: for output files without -o"),
    PHASE("c", "compile", "c", "makes an object file of each source"),
    PHASE("dc", "device-c", "cs",
          "same, but other files may use its __device__ functions and variables"),
    PHASE("dw", "device-w", "c", "as -c"),
    OPTION("rdc", "relocatable-device-code", TAKES_VALUE, set_rdc, NULL, "true: same as -dc"),
    PHASE("dlink", "device-link", "d", "makes an empty object file: the host linker does the work"),
    PHASE("link", "link", "l", "makes a program (default)"),
    PHASE("lib", "lib", "a", "makes an archive of the object files"),
    OPTION("shared", "shared", TAKES_NOTHING, set_shared, NULL, "makes a shared library"),
    OPTION("r", "relocatable-link", TAKES_NOTHING, set_relocatable, NULL,
           "links several object files into one"),
    FLAG("run", "run", run, "also runs the program"),
    MEMBER_OPTION("run-args", "run-args", TAKES_VALUE, add_options, run_arguments, NULL,
                  "ARGUMENTS: for the program that -run starts, separated by commas"),
    FLAG("clean", "clean-targets", clean, "removes the output files and does nothing else"),
    PHASE("E", "preprocess", "E", "prints the preprocessed source"),
    PHASE("M", "generate-dependencies", "M", "prints a make rule with the dependencies"),
    PHASE("MM", "generate-nonsystem-dependencies", "M", "same, without system headers"),
    OPTION("MD", "generate-dependencies-with-compile", TAKES_NOTHING, set_dependencies, NULL,
           "also writes that rule to a file beside the object file"),
    OPTION("MMD", "generate-nonsystem-dependencies-with-compile", TAKES_NOTHING, set_dependencies,
           NULL, "same, without system headers"),
    TEXT("MF", "dependency-output", dependency_file, "FILE: the file for the rule"),
    TEXT("MT", "dependency-target-name", dependency_target, "NAME: the target of the rule"),
    FLAG("MP", "generate-dependency-targets", phony_targets,
         "adds a rule without a recipe for each header"),
    OPTION("I", "include-path", TAKES_JOINED, add_preprocess, "-I",
           "FOLDER: to search for headers"),
    OPTION("isystem", "system-include", TAKES_VALUE, add_preprocess, "-isystem",
           "FOLDER: to search for system headers"),
    OPTION("include", "pre-include", TAKES_VALUE, add_preprocess, "-include",
           "FILE: to include before the source"),
    MEMBER_OPTION("D", "define-macro", TAKES_JOINED, add_value, preprocess, "-D", "NAME[=TEXT]"),
    MEMBER_OPTION("U", "undefine-macro", TAKES_JOINED, add_value, preprocess, "-U", "NAME"),
    OPTION("L", "library-path", TAKES_JOINED, add_folder, NULL, "FOLDER: to search for libraries"),
    OPTION("l", "library", TAKES_JOINED, add_library, NULL, "NAME: a library to link with"),
    OPTION("O", "optimize", TAKES_JOINED, set_optimisation, NULL,
           "LEVEL: 3 by default for CUDA programs, 1 for -O alone"),
    WORD("g", "debug", compile, "-g", "adds debug information"),
    OPTION("G", "device-debug", TAKES_NOTHING, set_device_debug, NULL,
           "adds debug information and disables optimisation"),
    WORD("lineinfo", "generate-line-info", compile, "-g1", "adds line numbers only"),
    WORD("pg", "profile", compile, "-pg", "for gprof"),
    OPTION("std", "std", TAKES_VALUE, set_standard, NULL,
           "c++17 or newer; an older standard becomes c++17"),
    TEXT("x", "x", language, "LANGUAGE: cu, c++ or c, whatever the file's extension"),
    WORD("w", "disable-warnings", compile, "-w", "no warnings"),
    OPTION("m", "machine", TAKES_VALUE, set_machine, NULL, "64"),
    OPTION("m64", "m64", TAKES_NOTHING, ignore, NULL, NULL),
    OPTION("m32", "m32", TAKES_NOTHING, set_machine_32, NULL, NULL),
    MEMBER_OPTION("ftemplate-depth", "ftemplate-depth", TAKES_VALUE, add_value, compile,
                  "-ftemplate-depth=", "DEPTH: limit for nested templates"),
    MEMBER_OPTION("ftemplate-backtrace-limit", "ftemplate-backtrace-limit", TAKES_VALUE, add_value,
                  compile,
                  "-ftemplate-backtrace-limit=", "LIMIT: for the lines of an error in a template"),
    MEMBER_OPTION("frandom-seed", "frandom-seed", TAKES_VALUE, add_value, compile,
                  "-frandom-seed=", "SEED: for names that the compiler generates"),
    WORD("noeh", "no-exceptions", compile, "-fno-exceptions", "disables C++ exceptions"),
    WORD("Wno-deprecated-declarations", "Wno-deprecated-declarations", compile,
         "-Wno-deprecated-declarations", "disables these warnings"),
    TEXT("ccbin", "compiler-bindir", compiler,
         "PATH: the host C++ compiler or its folder; default: NVCC_CCBIN, then c++"),
    OPTION("Xcompiler", "compiler-options", TAKES_VALUE, add_compiler_words, NULL,
           "OPTIONS: for the host compiler, separated by commas"),
    OPTION("Xlinker", "linker-options", TAKES_VALUE, add_linker_words, NULL,
           "OPTIONS: for the linker, separated by commas"),
    MEMBER_OPTION("Xarchive", "archive-options", TAKES_VALUE, add_options, archive, NULL,
                  "OPTIONS: for ar, separated by commas"),
    TEXT("arbin", "archiver-binary", archiver, "PATH: ar"),
    FLAG("forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", to_compiler,
         "passes unknown options to the host compiler"),
    FLAG("forward-unknown-to-host-linker", "forward-unknown-to-host-linker", to_linker,
         "same for the linker"),
    OPTION("forward-unknown-opts", "forward-unknown-opts", TAKES_NOTHING, set_forward, NULL,
           "same for both"),
    OPTION("optf", "options-file", TAKES_VALUE, add_option_file, NULL,
           "FILE: to read more options from"),
    OPTION("default-stream", "default-stream", TAKES_VALUE, set_stream, NULL,
           "legacy or per-thread"),
    WORD("extended-lambda", "extended-lambda", preprocess, "-D__CUDACC_EXTENDED_LAMBDA__=1",
         "lambdas for kernels, which are always supported"),
    WORD("expt-extended-lambda", "expt-extended-lambda", preprocess,
         "-D__CUDACC_EXTENDED_LAMBDA__=1", NULL),
    WORD("expt-relaxed-constexpr", "expt-relaxed-constexpr", preprocess,
         "-D__CUDACC_RELAXED_CONSTEXPR__=1", NULL),
    FLAG("keep", "keep", keep, "keeps intermediate files"),
    FLAG("save-temps", "save-temps", keep, "the same"),
    TEXT("keep-dir", "keep-dir", keep_dir, "FOLDER: for intermediate files that are kept"),
    FLAG("v", "verbose", verbose, "prints the commands"),
    FLAG("dryrun", "dryrun", dry_run, "prints the commands without running them"),
    TEXT(
        "cuda-include", "cuda-include", cuda_include,
        "FOLDER: of CUDA's headers; default: GR_CUDA_INCLUDE, then those grinterop was built with"),
    FLAG("all-barriers", "all-barriers", all_barriers,
         "runs every kernel as if it had a barrier: slower, for a barrier that was not detected"),
    FLAG("V", "version", version, "prints the version"),
    FLAG("h", "help", help, "prints this"),
    REFUSED("ptx", "ptx", refuse_gpu_code),
    REFUSED("cubin", "cubin", refuse_gpu_code),
    REFUSED("fatbin", "fatbin", refuse_gpu_code),
    REFUSED("optix-ir", "optix-ir", refuse_gpu_code),
    REFUSED("ltoir", "ltoir", refuse_gpu_code),
    REFUSED("cuda", "cuda", refuse_gpu_code),
    REFUSED("code-ls", "list-gpu-code", refuse_list),
    REFUSED("arch-ls", "list-gpu-arch", refuse_list),
    OPTION("hls", "host-linker-script", TAKES_VALUE, refuse_script, NULL, NULL),
    IGNORED("arch", "gpu-architecture", TAKES_VALUE),
    IGNORED("code", "gpu-code", TAKES_VALUE),
    IGNORED("gencode", "generate-code", TAKES_VALUE),
    IGNORED("e", "entries", TAKES_VALUE),
    IGNORED("Xptxas", "ptxas-options", TAKES_VALUE),
    IGNORED("Xnvlink", "nvlink-options", TAKES_VALUE),
    IGNORED("Xfatbin", "fatbin-options", TAKES_VALUE),
    IGNORED("Xcudafe", "cudafe-options", TAKES_VALUE),
    IGNORED("Xcicc", "cicc-options", TAKES_VALUE),
    IGNORED("aug-hls", "augment-host-linker-script", TAKES_NOTHING),
    IGNORED("nodlink", "no-device-link", TAKES_NOTHING),
    IGNORED("ewp", "extensible-whole-program", TAKES_NOTHING),
    IGNORED("t", "threads", TAKES_VALUE),
    IGNORED("split-compile", "split-compile", TAKES_VALUE),
    IGNORED("split-compile-extended", "split-compile-extended", TAKES_VALUE),
    IGNORED("jobserver", "jobserver", TAKES_NOTHING),
    IGNORED("time", "time", TAKES_VALUE),
    IGNORED("fdevice-time-trace", "fdevice-time-trace", TAKES_VALUE),
    IGNORED("fdevice-syntax-only", "fdevice-syntax-only", TAKES_NOTHING),
    IGNORED("res-usage", "resource-usage", TAKES_NOTHING),
    IGNORED("src-in-ptx", "source-in-ptx", TAKES_NOTHING),
    IGNORED("reloc-ptx", "relocatable-ptx", TAKES_NOTHING),
    IGNORED("dopt", "dopt", TAKES_VALUE),
    IGNORED("Ofc", "Ofast-compile", TAKES_VALUE),
    IGNORED("dlto", "dlink-time-opt", TAKES_NOTHING),
    IGNORED("lto", "lto", TAKES_NOTHING),
    IGNORED("gen-opt-lto", "gen-opt-lto", TAKES_NOTHING),
    IGNORED("opt-info", "optimization-info", TAKES_VALUE),
    IGNORED("keep-device-functions", "keep-device-functions", TAKES_NOTHING),
    IGNORED("astoolspatch", "compile-as-tools-patch", TAKES_NOTHING),
    IGNORED("sanitize", "sanitize", TAKES_VALUE),
    IGNORED("err-no", "display-error-number", TAKES_NOTHING),
    IGNORED("no-err-no", "no-display-error-number", TAKES_NOTHING),
    IGNORED("brief-diag", "brief-diagnostics", TAKES_VALUE),
    IGNORED("diag-suppress", "diag-suppress", TAKES_VALUE),
    IGNORED("diag-warn", "diag-warn", TAKES_VALUE),
    IGNORED("diag-error", "diag-error", TAKES_VALUE),
    IGNORED("Werror", "Werror", TAKES_VALUE),
    IGNORED("Wreorder", "Wreorder", TAKES_NOTHING),
    IGNORED("Wdefault-stream-launch", "Wdefault-stream-launch", TAKES_NOTHING),
    IGNORED("Wmissing-launch-bounds", "Wmissing-launch-bounds", TAKES_NOTHING),
    IGNORED("Wext-lambda-captures-this", "Wext-lambda-captures-this", TAKES_NOTHING),
    IGNORED("Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", TAKES_NOTHING),
    IGNORED("cudart", "cudart", TAKES_VALUE),
    IGNORED("cudadevrt", "cudadevrt", TAKES_VALUE),
    IGNORED("ldir", "libdevice-directory", TAKES_VALUE),
    IGNORED("target-dir", "target-directory", TAKES_VALUE),
    IGNORED("use_fast_math", "use_fast_math", TAKES_NOTHING),
    IGNORED("ftz", "ftz", TAKES_VALUE),
    IGNORED("fmad", "fmad", TAKES_VALUE),
    IGNORED("prec-div", "prec-div", TAKES_VALUE),
    IGNORED("prec-sqrt", "prec-sqrt", TAKES_VALUE),
    IGNORED("maxrregcount", "maxrregcount", TAKES_VALUE),
    IGNORED("jtd", "jump-table-density", TAKES_VALUE),
    IGNORED("extra-device-vectorization", "extra-device-vectorization", TAKES_NOTHING),
    IGNORED("restrict", "restrict", TAKES_NOTHING),
    IGNORED("noprof", "dont-use-profile", TAKES_NOTHING),
    IGNORED("no-align-double", "no-align-double", TAKES_NOTHING),
    IGNORED("allow-unsupported-compiler", "allow-unsupported-compiler", TAKES_NOTHING),
    IGNORED("objtemp", "objdir-as-tempdir", TAKES_NOTHING),
    IGNORED("compress-mode", "compress-mode", TAKES_VALUE),
    IGNORED("no-compress", "no-compress", TAKES_NOTHING),
    IGNORED("device-stack-protector", "device-stack-protector", TAKES_VALUE),
    IGNORED("static-global-template-stub", "static-global-template-stub", TAKES_VALUE),
    IGNORED("device-entity-has-hidden-visibility", "device-entity-has-hidden-visibility",
            TAKES_VALUE),
    IGNORED("nohdinitlist", "no-host-device-initializer-list", TAKES_NOTHING),
    IGNORED("nohdmoveforward", "no-host-device-move-forward", TAKES_NOTHING),
    IGNORED("use-local-env", "use-local-env", TAKES_NOTHING),
    IGNORED("force-cl-env-setup", "force-cl-env-setup", TAKES_NOTHING),
    IGNORED("qpp-config", "qpp-config", TAKES_VALUE),
    IGNORED("idp", "input-drive-prefix", TAKES_VALUE),
    IGNORED("ddp", "dependency-drive-prefix", TAKES_VALUE),
    IGNORED("dp", "drive-prefix", TAKES_VALUE),
    {NULL, NULL, TAKES_NOTHING, NULL, 0, NULL, NULL},
};
