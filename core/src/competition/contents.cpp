#include "competition/contents.hpp"

#include <algorithm>
#include <utility>

#include "competition/roles.hpp"

namespace memgauge::competition {

namespace {

bool equal(const kernels::Multiple& one, const kernels::Multiple& other) noexcept {
    return one.factor == other.factor && one.error == other.error;
}

}  // namespace

Cursor moved_on(const Cursor& from, std::size_t count, std::size_t elements) noexcept {
    const std::size_t to = from.at + count;
    return {to % elements, from.odd_lap != (to / elements % 2 == 1)};
}

bool same_state(const Holding& one, const Holding& other) noexcept {
    return equal(one.now, other.now) && equal(one.before, other.before) &&
           one.updates == other.updates;
}

Contents::Contents(std::size_t elements, const kernels::Multiple& all)
    : holdings_{{{0, elements}, all, all, 0}} {}

void Contents::cut(std::size_t at) {
    const auto holding = std::ranges::find_if(holdings_, [at](const Holding& each) {
        return each.range.first < at && at < each.range.first + each.range.count;
    });
    if (holding == holdings_.end()) return;
    Holding rest = *holding;
    holding->range.count = at - rest.range.first;
    rest.range = {at, rest.range.count - holding->range.count};
    holdings_.insert(std::next(holding), rest);
}

void Contents::merge() {
    std::size_t last = 0;
    for (std::size_t i = 1; i < holdings_.size(); ++i) {
        if (same_state(holdings_[last], holdings_[i])) {
            holdings_[last].range.count += holdings_[i].range.count;
        } else {
            holdings_[++last] = holdings_[i];
        }
    }
    holdings_.resize(last + 1);
}

void Contents::overwrite(const kernels::Range& range, const kernels::Multiple& with) {
    cut(range.first);
    cut(range.first + range.count);
    for (Holding& holding : holdings_) {
        if (holding.range.first < range.first) continue;
        if (holding.range.first >= range.first + range.count) break;
        holding = {holding.range, with, with, 0};
    }
    merge();
}

void Contents::update(const kernels::Range& range, double scalar) {
    cut(range.first);
    cut(range.first + range.count);
    for (Holding& holding : holdings_) {
        if (holding.range.first < range.first) continue;
        if (holding.range.first >= range.first + range.count) break;
        if (holding.updates == settled_updates) {
            std::swap(holding.now, holding.before);
            continue;
        }
        holding.before =
            std::exchange(holding.now, result_of(Operation::update, holding.now, scalar));
        ++holding.updates;
    }
    merge();
}

void Contents::reset(const kernels::Multiple& all) {
    overwrite({0, holdings_.back().range.first + holdings_.back().range.count}, all);
}

bool Contents::is(const kernels::Multiple& all) const noexcept {
    return holdings_.size() == 1 && equal(holdings_.front().now, all);
}

}  // namespace memgauge::competition
