#include "ptx.hpp"

#include <regex>
#include <stdexcept>

namespace stand_in {
namespace {

struct Statement {
    std::string text;                  // the instruction
    std::vector<std::string> outputs;  // C++ expressions
    std::vector<std::string> inputs;
};

// The closing parenthesis that belongs to the one at `open`; strings may hold others.
std::size_t closing(const std::string& source, std::size_t open) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t at = open; at < source.size(); ++at) {
        const char letter = source[at];
        if (letter == '"' && source[at - 1] != '\\') quoted = !quoted;
        if (quoted) continue;
        if (letter == '(') ++depth;
        if (letter == ')' && --depth == 0) return at;
    }
    throw std::runtime_error("asm without its end");
}

// Cut at ':' that is no part of '::' in a string or a name, outside of parentheses.
std::vector<std::string> parts_of(const std::string& inside) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char letter : inside) {
        if (letter == '"') quoted = !quoted;
        if (!quoted && letter == '(') ++depth;
        if (!quoted && letter == ')') --depth;
        if (!quoted && depth == 0 && letter == ':') {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

std::string strings_of(const std::string& literal) {
    static const std::regex quoted("\"((?:[^\"\\\\]|\\\\.)*)\"");
    std::string text;
    for (std::sregex_iterator at(literal.begin(), literal.end(), quoted), end; at != end; ++at) {
        text += (*at)[1].str();
    }
    return text;
}

// "=l"(now), "l"(address): what stands in the parentheses.
std::vector<std::string> operands_of(const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t at = text.find('('); at != std::string::npos; at = text.find('(', at)) {
        const std::size_t end = closing(text, at);
        found.push_back(text.substr(at + 1, end - at - 1));
        at = end;
    }
    return found;
}

std::string joined(const std::vector<std::string>& each) {
    std::string text;
    for (const std::string& one : each) text += (text.empty() ? "" : ", ") + one;
    return text;
}

bool begins(const std::string& text, const char* with) {
    return text.rfind(with, 0) == 0;
}

std::string special_register(const Statement& asked) {
    const std::string& to = asked.outputs.at(0);
    const auto holds = [&](const char* name) { return asked.text.find(name) != std::string::npos; };
    if (holds("globaltimer")) return to + " = stand_in::globaltimer();";
    if (holds("clock")) return to + " = static_cast<decltype(" + to + ")>(stand_in::cycles());";
    if (holds("nsmid")) return to + " = stand_in_state.multiprocessors;";
    if (holds("smid")) return to + " = stand_in::multiprocessor();";
    throw std::runtime_error("asm that the stand-in does not know: " + asked.text);
}

std::string replacement(const Statement& asked) {
    const std::string& text = asked.text;
    if (begins(text, "mov.")) return special_register(asked);
    if (begins(text, "ld.")) {
        return "stand_in::ptx_load(stand_in::ptx_address(" + asked.inputs.at(0) + "), " +
               joined(asked.outputs) + ");";
    }
    if (begins(text, "st.")) {
        const std::vector<std::string> values(asked.inputs.begin() + 1, asked.inputs.end());
        return "stand_in::ptx_store(stand_in::ptx_address(" + asked.inputs.at(0) + "), " +
               joined(values) + ");";
    }
    for (const char* nothing : {"membar", "fence", "prefetch", "discard", "applypriority"}) {
        if (begins(text, nothing)) return ";";
    }
    if (text.empty()) return ";";  // keeps a compiler from moving or dropping what is near
    throw std::runtime_error("asm that the stand-in does not know: " + text);
}

Statement read(const std::string& inside) {
    const std::vector<std::string> parts = parts_of(inside);
    Statement made;
    made.text = strings_of(parts[0]);
    made.text.erase(0, made.text.find_first_not_of(" \t{"));
    if (parts.size() > 1) made.outputs = operands_of(parts[1]);
    if (parts.size() > 2) made.inputs = operands_of(parts[2]);
    return made;
}

}  // namespace

std::string without_ptx(const std::string& source) {
    static const std::regex begin("\\b(?:asm|__asm__)\\s*(?:volatile|__volatile__)?\\s*\\(");
    std::string made;
    std::size_t done = 0;
    for (std::sregex_iterator at(source.begin(), source.end(), begin), end; at != end; ++at) {
        const auto from = static_cast<std::size_t>(at->position());
        const std::size_t open = from + static_cast<std::size_t>(at->length()) - 1;
        const std::size_t close = closing(source, open);
        made += source.substr(done, from - done);
        made += replacement(read(source.substr(open + 1, close - open - 1)));
        done = source.find(';', close) + 1;
    }
    return made + source.substr(done);
}

std::vector<std::string> kernels_of(const std::string& source) {
    static const std::regex bounds("__launch_bounds__\\s*\\([^)]*\\)");
    static const std::regex kernel(
        "(>?)\\s*(?:extern\\s*\"C\"\\s*)?__global__[^({;]*?(\\w+)\\s*\\(");
    const std::string plain = std::regex_replace(source, bounds, "");
    std::vector<std::string> names;
    for (std::sregex_iterator at(plain.begin(), plain.end(), kernel), end; at != end; ++at) {
        if ((*at)[1].length() == 0) names.push_back((*at)[2].str());  // else it is a template
    }
    return names;
}

}  // namespace stand_in
