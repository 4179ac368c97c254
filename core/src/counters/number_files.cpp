#include "memgauge/counters/number_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "counters/number_text.hpp"
#include "descriptor.hpp"
#include "memgauge/error.hpp"

namespace memgauge {
namespace {

constexpr std::size_t largest_text_bytes = std::size_t{64} * 1024;

struct OpenFile {
    Descriptor descriptor;
    std::vector<NumberCell> cells;
    std::vector<std::uint64_t> words;

    [[nodiscard]] std::size_t slots() const noexcept {
        return std::max<std::size_t>(cells.size() + words.size(), 1);
    }
};

// From the first byte of the words to behind their last.
struct Extent {
    std::uint64_t begin;
    std::uint64_t bytes;
};

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

Extent extent_of(std::span<const std::uint64_t> words) noexcept {
    const auto [least, most] = std::ranges::minmax(words);
    return {least, most - least + word_bytes};
}

std::uint64_t word_at(const char* bytes) noexcept {
    std::uint64_t word = 0;
    for (std::size_t index = word_bytes; index-- > 0;) {
        word = word << 8U | static_cast<unsigned char>(bytes[index]);
    }
    return word;
}

// A pipe must not make us wait.
Descriptor open_for_reading(const std::string& path, std::size_t index) {
    Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status{};
    const bool known = opened && fstat(opened.get(), &status) == 0;
    if (!known || S_ISDIR(status.st_mode)) {
        throw CounterRefused(path + " cannot be opened", known ? EISDIR : errno, index);
    }
    return opened;
}

void check(const NumberFile& file) {
    for (const NumberCell& cell : file.cells) {
        if (cell.row.empty()) {
            throw RequestError(file.path +
                               ": a cell names no row; give the text its line begins with");
        }
    }
    if (file.words.empty()) return;
    if (!file.cells.empty()) {
        throw RequestError(file.path + ": cells are of text and words of a binary file; give one");
    }
    const Extent extent = extent_of(file.words);
    if (extent.bytes > largest_text_bytes ||
        extent.begin > std::numeric_limits<off_t>::max() - largest_text_bytes) {
        throw RequestError(file.path +
                           ": its words are more than 64 KiB apart, or too far into it");
    }
}

// Whether more text can change nothing.
bool find_all(std::string_view text, bool ended, const OpenFile& file, SlotSpan into) noexcept {
    bool complete = true;
    for (std::size_t slot = 0; slot < file.slots(); ++slot) {
        const FoundNumber found = file.cells.empty() ? find_number(text, ended)
                                                     : find_number(text, ended, file.cells[slot]);
        into.values[slot] = found.value;
        into.present[slot] = found.state == FoundNumber::State::number ? 1 : 0;
        complete = complete && found.state != FoundNumber::State::unfinished;
    }
    return complete;
}

class NumberFiles final : public CounterSource {
public:
    explicit NumberFiles(std::span<const NumberFile> files) : text_(largest_text_bytes) {
        files_.reserve(files.size());
        for (const NumberFile& file : files) {
            check(file);
            files_.push_back({open_for_reading(file.path, files_.size()), file.cells, file.words});
            slots_ += files_.back().slots();
        }
    }

    [[nodiscard]] std::size_t slots() const noexcept override { return slots_; }

    void read(SlotSpan into) noexcept override {
        std::size_t first = 0;
        for (const OpenFile& file : files_) {
            const std::size_t count = file.slots();
            const SlotSpan slots{into.values.subspan(first, count),
                                 into.present.subspan(first, count)};
            if (file.words.empty()) {
                read_text(file, slots);
            } else {
                read_words(file, slots);
            }
            first += count;
        }
    }

private:
    // The kernel gives longer files in pieces, and says by an empty one that there are no more.
    void read_text(const OpenFile& file, SlotSpan into) noexcept {
        std::size_t filled = 0;
        bool ended = false;
        do {
            const ssize_t got = pread(file.descriptor.get(), text_.data() + filled,
                                      text_.size() - filled, static_cast<off_t>(filled));
            if (got < 0) return into.mark_all_missing();
            ended = got == 0 && filled < text_.size();
            filled += static_cast<std::size_t>(got);
        } while (!find_all({text_.data(), filled}, ended, file, into) && !ended &&
                 filled < text_.size());
    }

    void read_words(const OpenFile& file, SlotSpan into) noexcept {
        const Extent extent = extent_of(file.words);
        const ssize_t got = pread(file.descriptor.get(), text_.data(), extent.bytes,
                                  static_cast<off_t>(extent.begin));
        const std::uint64_t arrived = got < 0 ? 0 : static_cast<std::uint64_t>(got);
        for (std::size_t slot = 0; slot < file.words.size(); ++slot) {
            const std::uint64_t at = file.words[slot] - extent.begin;
            const bool whole = at + word_bytes <= arrived;
            into.values[slot] = whole ? word_at(text_.data() + at) : 0;
            into.present[slot] = whole && into.values[slot] >> 63U == 0 ? 1 : 0;
        }
    }

    std::vector<OpenFile> files_;
    std::vector<char> text_;
    std::size_t slots_ = 0;
};

}  // namespace

std::unique_ptr<CounterSource> open_number_files(std::span<const NumberFile> files) {
    if (files.empty()) {
        throw RequestError("number files: no file to read; give at least one");
    }
    return std::make_unique<NumberFiles>(files);
}

}  // namespace memgauge
