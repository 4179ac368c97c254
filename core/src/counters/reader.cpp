#include <algorithm>
#include <span>
#include <utility>

#include "memgauge/counters/source.hpp"
#include "memgauge/error.hpp"

namespace memgauge {

Reader::Reader(std::vector<std::shared_ptr<CounterSource>> sources) : sources_(std::move(sources)) {
    if (sources_.empty()) {
        throw RequestError("reader: no counter source to read; give at least one");
    }
    for (auto source = sources_.begin(); source != sources_.end(); ++source) {
        if (*source == nullptr || std::find(sources_.begin(), source, *source) != source) {
            throw RequestError("reader: a counter source is null or listed twice; list each once");
        }
        slots_ += (*source)->slots();
    }
}

Reading Reader::make_reading() const {
    Reading reading;
    reading.values.resize(slots_);
    reading.present.resize(slots_);
    return reading;
}

void Reader::read(Reading& into) noexcept {
    const Clock& clock = Clock::instance();
    const std::span values(into.values);
    const std::span present(into.present);
    std::size_t first = 0;
    into.begin = clock.now();
    for (const auto& source : sources_) {
        const std::size_t count = source->slots();
        source->read({values.subspan(first, count), present.subspan(first, count)});
        first += count;
    }
    into.end = clock.now();
}

}  // namespace memgauge
