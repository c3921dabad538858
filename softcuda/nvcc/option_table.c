/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/libraries.h"

static void ignore(options *o, const option *option, const char *value)
{
    (void)o, (void)option, (void)value;
}

static void set_phase(options *o, const option *option, const char *value)
{
    (void)value;
    const char *letters = "lcEMda"; /* in the order of enum phase */
    o->phase = (enum phase)(strchr(letters, option->word[0]) - letters);
    o->phase_option = option->name;
    o->separate = o->separate || option->word[1] == 's';
}

static void set_text(options *o, const option *option, const char *value)
{
    switch (option->word[0]) {
    case 'o':
        o->output = value;
        break;
    case 'O':
        o->output_dir = value;
        break;
    case 'a':
        o->archiver = value;
        break;
    case 'b':
        o->compiler = value;
        break;
    case 'x':
        o->language = value;
        break;
    case 'i':
        o->cuda_include = value;
        break;
    case 'k':
        o->keep_dir = value;
        break;
    case 'F':
        o->dependency_file = value;
        break;
    case 'T':
        o->dependency_target = value;
        break;
    default:
        break;
    }
}

static void set_flag(options *o, const option *option, const char *value)
{
    (void)value;
    switch (option->word[0]) {
    case 'b':
        o->all_barriers = true;
        break;
    case 'k':
        o->keep = true;
        break;
    case 'v':
        o->verbose = true;
        break;
    case 'd':
        o->dry_run = true;
        break;
    case 'r':
        o->run = true;
        break;
    case 'P':
        o->phony_targets = true;
        break;
    case 'f':
        o->to_compiler = o->to_compiler || option->word[1] != 'l';
        o->to_linker = o->to_linker || option->word[1] != 'c';
        break;
    case 'c':
        o->clean = true;
        break;
    case 'h':
        o->help = true;
        break;
    case 'V':
        o->version = true;
        break;
    case 'M':
        o->dependency_kind = option->name;
        break;
    default:
        break;
    }
}

/* nvcc accepts several paths or names, separated by commas. */
static void add_preprocess(options *o, const option *option, const char *value)
{
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++) {
        words_add(&o->preprocess, option->word);
        words_add(&o->preprocess, parts.items[i]);
    }
}

/* A macro's value may contain commas. */
static void add_macro(options *o, const option *option, const char *value)
{
    words_add(&o->preprocess, keep_text("%s%s", option->word, value));
}

static void add_compile(options *o, const option *option, const char *value)
{
    (void)value;
    words_add(&o->compile, option->word);
}

/* An option that takes a value in nvcc, and is one word for the host compiler. */
static void add_compile_value(options *o, const option *option, const char *value)
{
    words_add(&o->compile, keep_text("%s=%s", option->name, value));
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

/* The kernels' header needs C++17; newer standards are passed on. */
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

static void add_archiver_words(options *o, const option *option, const char *value)
{
    (void)option;
    words_add_options(&o->archive, value);
}

static void add_run_words(options *o, const option *option, const char *value)
{
    (void)option;
    words_add_options(&o->run_arguments, value);
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

static void set_lambda(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    words_add(&o->preprocess, "-D__CUDACC_EXTENDED_LAMBDA__=1");
}

static void set_relaxed(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    words_add(&o->preprocess, "-D__CUDACC_RELAXED_CONSTEXPR__=1");
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

/* For options about GPU code or Windows. */
#define IGNORED(name, long_name, takes)                                                            \
    {                                                                                              \
        "-" name, "--" long_name, takes, ignore, NULL, NULL                                        \
    }

#define REFUSED(name, long_name, act)                                                              \
    {                                                                                              \
        "-" name, "--" long_name, TAKES_NOTHING, act, NULL, "refused: it is about GPU code"        \
    }

const option option_table[] = {
    {"-o", "--output-file", TAKES_VALUE, set_text, "o", "FILE: the output file"},
    {"-odir", "--output-directory", TAKES_VALUE, set_text, "O",
     "FOLDER: for output files without -o"},
    {"-c", "--compile", TAKES_NOTHING, set_phase, "c", "makes an object file of each source"},
    {"-dc", "--device-c", TAKES_NOTHING, set_phase, "cs",
     "same, but other files may use its __device__ functions and variables"},
    {"-dw", "--device-w", TAKES_NOTHING, set_phase, "c", "as -c"},
    {"-rdc", "--relocatable-device-code", TAKES_VALUE, set_rdc, NULL, "true: same as -dc"},
    {"-dlink", "--device-link", TAKES_NOTHING, set_phase, "d",
     "makes an empty object file: the host linker does the work"},
    {"-link", "--link", TAKES_NOTHING, set_phase, "l", "makes a program (default)"},
    {"-lib", "--lib", TAKES_NOTHING, set_phase, "a", "makes an archive of the object files"},
    {"-shared", "--shared", TAKES_NOTHING, set_shared, NULL, "makes a shared library"},
    {"-r", "--relocatable-link", TAKES_NOTHING, set_relocatable, NULL,
     "links several object files into one"},
    {"-run", "--run", TAKES_NOTHING, set_flag, "r", "also runs the program"},
    {"-run-args", "--run-args", TAKES_VALUE, add_run_words, NULL,
     "ARGUMENTS: for the program that -run starts, separated by commas"},
    {"-clean", "--clean-targets", TAKES_NOTHING, set_flag, "c",
     "removes the output files and does nothing else"},
    {"-E", "--preprocess", TAKES_NOTHING, set_phase, "E", "prints the preprocessed source"},
    {"-M", "--generate-dependencies", TAKES_NOTHING, set_phase, "M",
     "prints a make rule with the dependencies"},
    {"-MM", "--generate-nonsystem-dependencies", TAKES_NOTHING, set_phase, "M",
     "same, without system headers"},
    {"-MD", "--generate-dependencies-with-compile", TAKES_NOTHING, set_flag, "M",
     "also writes that rule to a file beside the object file"},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", TAKES_NOTHING, set_flag, "M",
     "same, without system headers"},
    {"-MF", "--dependency-output", TAKES_VALUE, set_text, "F", "FILE: the file for the rule"},
    {"-MT", "--dependency-target-name", TAKES_VALUE, set_text, "T", "NAME: the target of the rule"},
    {"-MP", "--generate-dependency-targets", TAKES_NOTHING, set_flag, "P",
     "adds a rule without a recipe for each header"},
    {"-I", "--include-path", TAKES_JOINED, add_preprocess, "-I", "FOLDER: to search for headers"},
    {"-isystem", "--system-include", TAKES_VALUE, add_preprocess, "-isystem",
     "FOLDER: to search for system headers"},
    {"-include", "--pre-include", TAKES_VALUE, add_preprocess, "-include",
     "FILE: to include before the source"},
    {"-D", "--define-macro", TAKES_JOINED, add_macro, "-D", "NAME[=TEXT]"},
    {"-U", "--undefine-macro", TAKES_JOINED, add_macro, "-U", "NAME"},
    {"-L", "--library-path", TAKES_JOINED, add_folder, NULL, "FOLDER: to search for libraries"},
    {"-l", "--library", TAKES_JOINED, add_library, NULL, "NAME: a library to link with"},
    {"-O", "--optimize", TAKES_JOINED, set_optimisation, NULL,
     "LEVEL: 3 by default for CUDA programs, 1 for -O alone"},
    {"-g", "--debug", TAKES_NOTHING, add_compile, "-g", "adds debug information"},
    {"-G", "--device-debug", TAKES_NOTHING, set_device_debug, NULL,
     "adds debug information and disables optimisation"},
    {"-lineinfo", "--generate-line-info", TAKES_NOTHING, add_compile, "-g1",
     "adds line numbers only"},
    {"-pg", "--profile", TAKES_NOTHING, add_compile, "-pg", "for gprof"},
    {"-std", "--std", TAKES_VALUE, set_standard, NULL,
     "c++17 or newer; an older standard becomes c++17"},
    {"-x", "--x", TAKES_VALUE, set_text, "x",
     "LANGUAGE: cu, c++ or c, whatever the file's extension"},
    {"-w", "--disable-warnings", TAKES_NOTHING, add_compile, "-w", "no warnings"},
    {"-m", "--machine", TAKES_VALUE, set_machine, NULL, "64"},
    {"-m64", "--m64", TAKES_NOTHING, ignore, NULL, NULL},
    {"-m32", "--m32", TAKES_NOTHING, set_machine_32, NULL, NULL},
    {"-ftemplate-depth", "--ftemplate-depth", TAKES_VALUE, add_compile_value, NULL,
     "DEPTH: limit for nested templates"},
    {"-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit", TAKES_VALUE, add_compile_value,
     NULL, "LIMIT: for the lines of an error in a template"},
    {"-frandom-seed", "--frandom-seed", TAKES_VALUE, add_compile_value, NULL,
     "SEED: for names that the compiler generates"},
    {"-noeh", "--no-exceptions", TAKES_NOTHING, add_compile, "-fno-exceptions",
     "disables C++ exceptions"},
    {"-Wno-deprecated-declarations", "--Wno-deprecated-declarations", TAKES_NOTHING, add_compile,
     "-Wno-deprecated-declarations", "disables these warnings"},
    {"-ccbin", "--compiler-bindir", TAKES_VALUE, set_text, "b",
     "PATH: the host C++ compiler or its folder; default: NVCC_CCBIN, then c++"},
    {"-Xcompiler", "--compiler-options", TAKES_VALUE, add_compiler_words, NULL,
     "OPTIONS: for the host compiler, separated by commas"},
    {"-Xlinker", "--linker-options", TAKES_VALUE, add_linker_words, NULL,
     "OPTIONS: for the linker, separated by commas"},
    {"-Xarchive", "--archive-options", TAKES_VALUE, add_archiver_words, NULL,
     "OPTIONS: for ar, separated by commas"},
    {"-arbin", "--archiver-binary", TAKES_VALUE, set_text, "a", "PATH: ar"},
    {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", TAKES_NOTHING,
     set_flag, "fc", "passes unknown options to the host compiler"},
    {"-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker", TAKES_NOTHING, set_flag,
     "fl", "same for the linker"},
    {"-forward-unknown-opts", "--forward-unknown-opts", TAKES_NOTHING, set_flag, "f",
     "same for both"},
    {"-optf", "--options-file", TAKES_VALUE, add_option_file, NULL,
     "FILE: to read more options from"},
    {"-default-stream", "--default-stream", TAKES_VALUE, set_stream, NULL, "legacy or per-thread"},
    {"-extended-lambda", "--extended-lambda", TAKES_NOTHING, set_lambda, NULL,
     "lambdas for kernels, which are always supported"},
    {"-expt-extended-lambda", "--expt-extended-lambda", TAKES_NOTHING, set_lambda, NULL, NULL},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", TAKES_NOTHING, set_relaxed, NULL, NULL},
    {"-keep", "--keep", TAKES_NOTHING, set_flag, "k", "keeps intermediate files"},
    {"-save-temps", "--save-temps", TAKES_NOTHING, set_flag, "k", "the same"},
    {"-keep-dir", "--keep-dir", TAKES_VALUE, set_text, "k",
     "FOLDER: for intermediate files that are kept"},
    {"-v", "--verbose", TAKES_NOTHING, set_flag, "v", "prints the commands"},
    {"-dryrun", "--dryrun", TAKES_NOTHING, set_flag, "d",
     "prints the commands without running them"},
    {"-cuda-include", "--cuda-include", TAKES_VALUE, set_text, "i",
     "FOLDER: of CUDA's headers; default: GR_CUDA_INCLUDE, then those grinterop was built with"},
    {"-all-barriers", "--all-barriers", TAKES_NOTHING, set_flag, "b",
     "runs every kernel as if it had a barrier: slower, for a barrier that was not detected"},
    {"-V", "--version", TAKES_NOTHING, set_flag, "V", "prints the version"},
    {"-h", "--help", TAKES_NOTHING, set_flag, "h", "prints this"},
    REFUSED("ptx", "ptx", refuse_gpu_code),
    REFUSED("cubin", "cubin", refuse_gpu_code),
    REFUSED("fatbin", "fatbin", refuse_gpu_code),
    REFUSED("optix-ir", "optix-ir", refuse_gpu_code),
    REFUSED("ltoir", "ltoir", refuse_gpu_code),
    REFUSED("cuda", "cuda", refuse_gpu_code),
    REFUSED("code-ls", "list-gpu-code", refuse_list),
    REFUSED("arch-ls", "list-gpu-arch", refuse_list),
    {"-hls", "--host-linker-script", TAKES_VALUE, refuse_script, NULL, NULL},
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
    {NULL, NULL, TAKES_NOTHING, NULL, NULL, NULL},
};
