#include "memgauge/counters/number_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
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

    [[nodiscard]] std::size_t slots() const noexcept {
        return std::max<std::size_t>(cells.size(), 1);
    }
};

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
            files_.push_back({open_for_reading(file.path, files_.size()), file.cells});
            slots_ += files_.back().slots();
        }
    }

    [[nodiscard]] std::size_t slots() const noexcept override { return slots_; }

    void read(SlotSpan into) noexcept override {
        std::size_t first = 0;
        for (const OpenFile& file : files_) {
            const std::size_t count = file.slots();
            read_file(file,
                      {into.values.subspan(first, count), into.present.subspan(first, count)});
            first += count;
        }
    }

private:
    // The kernel gives longer files in pieces, and says by an empty one that there are no more.
    void read_file(const OpenFile& file, SlotSpan into) noexcept {
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
