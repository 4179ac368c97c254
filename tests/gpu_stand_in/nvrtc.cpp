// A stand-in of NVRTC: compiles a kernel's source for this machine's processor with g++, behind a
// header that declares what a GPU's compiler does. What was compiled once is kept in a directory.

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "image.hpp"
#include "knobs.hpp"
#include "ptx.hpp"

extern char** environ;

#define NVRTC extern "C" __attribute__((visibility("default")))

struct NvrtcProgram {
    std::string source;
    std::string name;
    std::vector<std::string> expressions;
    std::string log;
    std::string image;
    bool binary = false;
};

namespace {

using namespace stand_in;

enum { success = 0, invalid_input = 3, invalid_program = 4, invalid_option = 5, compilation = 6 };

struct Options {
    int arch = 75;
    bool virtual_arch = true;
    std::vector<std::string> macros;
};

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string directory_of_self() {
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&directory_of_self), &self);
    const std::string path = self.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
}

// FNV-1a.
std::uint64_t hashed(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : text) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return hash;
}

// Runs a program to its end; its exit status, what it printed goes to `output`.
int run(std::vector<std::string> words, const std::string& output) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = 0;
    const int failed =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return 127;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::vector<int> archs() {
    std::vector<int> all;
    std::istringstream told(knob("nvrtc_archs", "75,80,86,89,90,100,120"));
    for (std::string one; std::getline(told, one, ',');) all.push_back(std::stoi(one));
    return all;
}

bool supported(int arch) {
    for (const int each : archs()) {
        if (each == arch) return true;
    }
    return false;
}

// An option in two words or with '='; its value, or null where it is another option.
const char* value_of(const std::string& option, const char* name) {
    const std::size_t length = std::strlen(name);
    return option.compare(0, length, name) == 0 && option[length] == '='
               ? option.c_str() + length + 1
               : nullptr;
}

bool take_arch(const std::string& value, Options& into) {
    const auto at = value.find('_');
    const std::string kind = value.substr(0, at);
    if (at == std::string::npos || (kind != "sm" && kind != "compute")) return false;
    into.virtual_arch = kind == "compute";
    into.arch = std::atoi(value.c_str() + at + 1);
    return supported(into.arch);
}

bool harmless(const std::string& option) {
    for (const char* each : {"--std=",
                             "-std=",
                             "--fmad=",
                             "-fmad=",
                             "--device-as-default-execution-space",
                             "-default-device",
                             "--restrict",
                             "-restrict",
                             "--generate-line-info",
                             "-lineinfo",
                             "--maxrregcount=",
                             "-maxrregcount=",
                             "--extra-device-vectorization",
                             "-w",
                             "--disable-warnings",
                             "--ptxas-options",
                             "-Xptxas",
                             "--no-source-include",
                             "--diag-suppress=",
                             "--split-compile",
                             "--minimal",
                             "-minimal",
                             "--no-cache"}) {
        if (option.compare(0, std::strlen(each), each) == 0) return true;
    }
    return false;
}

// Empty, or why not.
std::string take(const std::string& option, Options& into) {
    for (const char* name : {"--gpu-architecture", "-arch"}) {
        if (const char* value = value_of(option, name)) {
            return take_arch(value, into)
                       ? ""
                       : "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
        }
    }
    if (const char* macro = value_of(option, "--define-macro")) {
        into.macros.push_back(std::string("-D") + macro);
    } else if (option.compare(0, 2, "-D") == 0) {
        into.macros.push_back(option);
    } else if (!harmless(option)) {
        return "nvrtc: error: unrecognized option " + option + " found\n";
    }
    return "";
}

std::string compiler() {
    return knob("compiler", "g++");
}

// The source with macros replaced, so that kernels can be found in it.
std::string preprocessed(const NvrtcProgram& program, const Options& options,
                         const std::string& scratch) {
    std::ofstream(scratch + ".cu.cpp") << program.source;
    std::vector<std::string> words{compiler(), "-std=c++20", "-E", "-D__CUDACC_RTC__=1",
                                   "-D__CUDA_ARCH__=" + std::to_string(options.arch * 10)};
    words.insert(words.end(), options.macros.begin(), options.macros.end());
    words.insert(words.end(), {"-o", scratch + ".ii", scratch + ".cu.cpp"});
    if (run(words, scratch + ".log") != 0) throw std::runtime_error(content(scratch + ".log"));
    return content(scratch + ".ii");
}

std::string launchable(const NvrtcProgram& program, const std::string& source) {
    std::string text = "#include \"" STAND_IN_SHIM "\"\n" + without_ptx(source);
    for (const std::string& name : kernels_of(source)) {
        text += "STAND_IN_KERNEL(stand_in_launch_" + name + ", " + name + ")\n";
    }
    for (std::size_t at = 0; at < program.expressions.size(); ++at) {
        text += "STAND_IN_KERNEL(stand_in_launch_expression_" + std::to_string(at) + ", (" +
                program.expressions[at] + "))\n";
    }
    return text;
}

void build(const std::string& text, const std::string& scratch, const std::string& made) {
    std::ofstream(scratch + ".cpp") << text;
    const std::vector<std::string> words{
        compiler(),
        "-std=c++20",
        "-O1",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-nodefaultlibs",
        "-fsanitize=thread",  // every access becomes a call: see kernel_shim.hpp
        "-ffp-contract=off",
        "-fno-strict-aliasing",
        "-fno-exceptions",
        "-fno-rtti",
        "-w",
        "-o",
        scratch + ".so",
        scratch + ".cpp"};
    if (run(words, scratch + ".log") != 0) throw std::runtime_error(content(scratch + ".log"));
    if (std::rename((scratch + ".so").c_str(), made.c_str()) != 0) {
        throw std::runtime_error("cannot keep " + made + "\n");
    }
}

void forget(const std::string& scratch) {
    for (const char* end : {".cu.cpp", ".ii", ".cpp", ".log", ".so"}) {
        std::remove((scratch + end).c_str());
    }
}

std::string compiled(const NvrtcProgram& program, const Options& options) {
    const std::string cache = knob("kernel_cache", directory_of_self() + "kernels");
    mkdir(cache.c_str(), 0700);
    std::string key = program.source + content(STAND_IN_SHIM) + std::to_string(options.arch);
    for (const std::string& each : options.macros) key += "\n" + each;
    for (const std::string& each : program.expressions) key += "\n" + each;
    const std::string made = cache + "/" + std::to_string(hashed(key)) + ".so";
    if (access(made.c_str(), R_OK) == 0) return made;
    const std::string scratch = made + "." + std::to_string(getpid()) + "-" +
                                std::to_string(calls_of("nvrtcCompileProgram"));
    try {
        build(launchable(program, preprocessed(program, options, scratch)), scratch, made);
    } catch (...) {
        forget(scratch);
        throw;
    }
    forget(scratch);
    return made;
}

// For tests that give it to the real one.
void note(const NvrtcProgram& program, int count, const char* const* options) {
    const std::string place = knob("sources", "");
    if (place.empty()) return;
    const std::string path = place + "/" + std::to_string(hashed(program.source));
    std::ofstream(path + ".cu") << program.source;
    std::ofstream listed(path + ".options");
    for (int at = 0; at < count; ++at) listed << options[at] << "\n";
}

int give(const std::string& text, char* into) {
    std::memcpy(into, text.c_str(), text.size() + 1);
    return success;
}

}  // namespace

NVRTC const char* nvrtcGetErrorString(int code) {
    switch (code) {
        case success:
            return "NVRTC_SUCCESS";
        case 1:
            return "NVRTC_ERROR_OUT_OF_MEMORY";
        case 2:
            return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
        case invalid_input:
            return "NVRTC_ERROR_INVALID_INPUT";
        case invalid_program:
            return "NVRTC_ERROR_INVALID_PROGRAM";
        case invalid_option:
            return "NVRTC_ERROR_INVALID_OPTION";
        case compilation:
            return "NVRTC_ERROR_COMPILATION";
        case 7:
            return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
        default:
            return "NVRTC_ERROR unknown";
    }
}

NVRTC int nvrtcVersion(int* major, int* minor) {
    if (const int code = called(__func__)) return code;
    const std::string version = knob("nvrtc_version", "13.0");
    *major = std::stoi(version);
    *minor = std::stoi(version.substr(version.find('.') + 1));
    return success;
}

NVRTC int nvrtcGetNumSupportedArchs(int* into) {
    if (const int code = called(__func__)) return code;
    *into = static_cast<int>(archs().size());
    return success;
}

NVRTC int nvrtcGetSupportedArchs(int* into) {
    if (const int code = called(__func__)) return code;
    for (const int each : archs()) *into++ = each;
    return success;
}

NVRTC int nvrtcCreateProgram(NvrtcProgram** into, const char* source, const char* name, int headers,
                             const char* const*, const char* const*) {
    if (const int code = called(__func__)) return code;
    if (into == nullptr || source == nullptr || headers != 0) return invalid_input;
    *into = new NvrtcProgram{source, name == nullptr ? "default_program" : name, {}, {}, {}, false};
    return success;
}

NVRTC int nvrtcDestroyProgram(NvrtcProgram** program) {
    if (const int code = called(__func__)) return code;
    if (program == nullptr || *program == nullptr) return invalid_program;
    delete *program;
    *program = nullptr;
    return success;
}

NVRTC int nvrtcAddNameExpression(NvrtcProgram* program, const char* expression) {
    if (const int code = called(__func__)) return code;
    program->expressions.emplace_back(expression);
    return success;
}

NVRTC int nvrtcGetLoweredName(NvrtcProgram* program, const char* expression, const char** into) {
    if (const int code = called(__func__)) return code;
    static thread_local std::string name;
    for (std::size_t at = 0; at < program->expressions.size(); ++at) {
        if (program->expressions[at] != expression) continue;
        name = "expression_" + std::to_string(at);
        *into = name.c_str();
        return success;
    }
    return 10;  // NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID
}

NVRTC int nvrtcCompileProgram(NvrtcProgram* program, int count, const char* const* texts) {
    if (program == nullptr) return invalid_program;
    if (const int code = called(__func__)) {
        program->log = knob("nvrtc_log", "kernels.cu(1): error: told to fail\n");
        return code;
    }
    note(*program, count, texts);
    Options options;
    for (int at = 0; at < count; ++at) {
        program->log = take(texts[at], options);
        if (!program->log.empty()) return invalid_option;
    }
    try {
        const Image image{compiled(*program, options), options.arch, options.virtual_arch};
        program->image = image_text(image);
        program->binary = !options.virtual_arch;
    } catch (const std::exception& error) {
        program->log = error.what();
        return compilation;
    }
    return success;
}

NVRTC int nvrtcGetPTXSize(NvrtcProgram* program, size_t* into) {
    if (const int code = called(__func__)) return code;
    *into = program->image.size() + 1;
    return success;
}

NVRTC int nvrtcGetPTX(NvrtcProgram* program, char* into) {
    if (const int code = called(__func__)) return code;
    return give(program->image, into);
}

// As the real one: none for a virtual architecture.
NVRTC int nvrtcGetCUBINSize(NvrtcProgram* program, size_t* into) {
    if (const int code = called(__func__)) return code;
    *into = program->binary ? program->image.size() + 1 : 0;
    return success;
}

NVRTC int nvrtcGetCUBIN(NvrtcProgram* program, char* into) {
    if (const int code = called(__func__)) return code;
    return program->binary ? give(program->image, into) : static_cast<int>(invalid_input);
}

NVRTC int nvrtcGetProgramLogSize(NvrtcProgram* program, size_t* into) {
    if (const int code = called(__func__)) return code;
    *into = program->log.size() + 1;
    return success;
}

NVRTC int nvrtcGetProgramLog(NvrtcProgram* program, char* into) {
    if (const int code = called(__func__)) return code;
    return give(program->log, into);
}
