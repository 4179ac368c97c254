#pragma once
// What the stand-in compiler gives for a binary: where the compiled program lies.

#include <cstring>
#include <optional>
#include <string>

namespace stand_in {

struct Image {
    std::string path;
    int arch = 0;
    bool virtual_arch = false;  // compute_90 and not sm_90
};

inline constexpr const char* image_mark = "// GPU stand-in";

inline std::string image_text(const Image& image) {
    return std::string(image_mark) + "\n" + std::to_string(image.arch) + "\n" +
           (image.virtual_arch ? "1" : "0") + "\n" + image.path + "\n";
}

inline std::optional<Image> read_image(const char* text) {
    if (text == nullptr || std::strncmp(text, image_mark, std::strlen(image_mark)) != 0) return {};
    const std::string rest = text + std::strlen(image_mark) + 1;
    const auto arch_end = rest.find('\n');
    const auto path_begin = arch_end + 3;
    return Image{rest.substr(path_begin, rest.find('\n', path_begin) - path_begin), std::stoi(rest),
                 rest[arch_end + 1] == '1'};
}

}  // namespace stand_in
