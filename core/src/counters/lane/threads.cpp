#include "counters/lane/threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "memgauge/error.hpp"
#include "threads/affinity.hpp"
#include "threads/signals_blocked.hpp"
#include "threads/thread_refusal.hpp"

namespace memgauge {
namespace {

constexpr std::chrono::seconds flush_interval{1};
constexpr double largest_share = 0.05;

std::size_t block_samples(std::chrono::nanoseconds interval, std::size_t columns) {
    const auto samples = static_cast<std::size_t>(flush_interval / interval);
    const std::size_t most =
        std::min(LaneBlock::largest_samples, LaneBlock::largest_values / columns);
    return std::clamp<std::size_t>(samples, 1, std::max<std::size_t>(most, 1));
}

std::uint64_t thread_cpu_ns() noexcept {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(used.tv_nsec);
}

void name_this_thread(const std::string& name) noexcept {
    std::array<char, 16> kept{};  // with the final zero: pthread_setname_np(3)
    name.copy(kept.data(), kept.size() - 1);
    pthread_setname_np(pthread_self(), kept.data());
}

}  // namespace

LaneThreads::LaneThreads(LaneRequest request)
    : request_(std::move(request)),
      interval_(request_.interval_ns),
      file_(request_.path, request_.reader->slots() + 2),
      ring_(ring_blocks, LaneBlock(request_.reader->slots(),
                                   block_samples(interval_, request_.reader->slots() + 2))),
      encoded_(ring_.front().most_bytes()),
      reading_(request_.reader->make_reading()),
      written_bytes_(file_.bytes()),
      latest_(request_.reader->make_reading()) {
    try {
        start();
    } catch (const std::system_error& error) {
        stop();
        refuse_thread("lane " + request_.name + ": cannot start a thread", error.code().value());
    }
    if (pin_error_ != 0) {
        stop();
        throw SystemError(
            "lane " + request_.name + ": cannot sample on cpu " + std::to_string(*request_.cpu),
            pin_error_);
    }
}

LaneThreads::~LaneThreads() {
    stop();
}

void LaneThreads::start() {
    const SignalsBlocked blocked;
    writer_ = std::thread([this] { write_until_done(); });
    sampler_ = std::thread([this] { sample_until_stopped(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return started_; });
}

void LaneThreads::stop() noexcept {
    const std::scoped_lock one_at_a_time(stop_mutex_);
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        sampled_ = sampled_ || !sampler_.joinable();
    }
    sampler_wakes_.notify_one();
    writer_wakes_.notify_one();
    if (sampler_.joinable()) sampler_.join();
    if (writer_.joinable()) writer_.join();
}

void LaneThreads::sample_until_stopped() noexcept {
    name_this_thread(request_.name);
    if (request_.cpu) pin_error_ = pin_this_thread(*request_.cpu);
    Time deadline = std::chrono::steady_clock::now();
    Time flush_at = deadline + flush_interval;
    spared_at_ = deadline;
    take_sample();
    {
        const std::scoped_lock lock(mutex_);
        started_ = true;
    }
    changed_.notify_one();
    for (bool goes_on = true; goes_on;) {
        deadline = instant_after(deadline);
        if (deadline >= flush_at || filling().full()) {
            hand_over(false);
            spare_the_core();
            flush_at = deadline + flush_interval;
        }
        goes_on = wait_until(deadline);
        take_sample();
    }
    hand_over(true);
}

LaneThreads::Time LaneThreads::instant_after(Time last) noexcept {
    const auto passed = (std::chrono::steady_clock::now() - last) / interval_;
    const auto instants = std::max<decltype(passed)>(stride_, passed + 1);
    missed_ += static_cast<std::uint64_t>(instants - 1);
    return last + instants * interval_;
}

void LaneThreads::spare_the_core() noexcept {
    const Time now = std::chrono::steady_clock::now();
    const std::uint64_t cpu_ns = thread_cpu_ns();
    const double share = static_cast<double>(cpu_ns - spared_cpu_ns_) /
                         std::chrono::duration<double, std::nano>(now - spared_at_).count();
    const auto longest = Lane::longest_interval_ns / interval_.count();
    if (share > largest_share) {
        const double wanted = std::ceil(static_cast<double>(stride_) * share / largest_share);
        stride_ = std::min(static_cast<std::int64_t>(wanted), longest);
    } else if (share < largest_share / 4) {
        stride_ = std::max<std::int64_t>(stride_ / 2, 1);
    }
    spared_at_ = now;
    spared_cpu_ns_ = cpu_ns;
}

void LaneThreads::take_sample() noexcept {
    request_.reader->read(reading_);
    filling().add(reading_);
    samples_.fetch_add(1, std::memory_order_relaxed);
    const Clock& clock = Clock::instance();
    const auto took =
        static_cast<std::uint64_t>(clock.to_ns(reading_.end) - clock.to_ns(reading_.begin));
    if (took > longest_read_ns_.load(std::memory_order_relaxed)) longest_read_ns_ = took;
    publish();
}

void LaneThreads::publish() noexcept {
    const std::unique_lock lock(latest_mutex_, std::try_to_lock);
    if (!lock) return;
    latest_.begin = reading_.begin;
    latest_.end = reading_.end;
    std::ranges::copy(reading_.values, latest_.values.begin());
    std::ranges::copy(reading_.present, latest_.present.begin());
    has_latest_ = true;
}

bool LaneThreads::wait_until(Time deadline) noexcept {
    std::unique_lock lock(mutex_);
    sampler_wakes_.wait_until(lock, deadline, [this] { return stopping_ || error_number_ != 0; });
    return !stopping_ && error_number_ == 0;
}

void LaneThreads::hand_over(bool last) noexcept {
    std::unique_lock lock(mutex_);
    sampler_cpu_ns_ = thread_cpu_ns();
    const auto has_room = [this] { return filled_ - written_ + 1 < ring_blocks; };
    if (last) changed_.wait(lock, has_room);
    if (has_room()) {
        ++filled_;
    } else {
        dropped_ += filling().samples();
    }
    filling().clear();
    sampled_ = last;
    writer_wakes_.notify_one();
}

void LaneThreads::write_until_done() noexcept {
    name_this_thread(request_.name);
    std::unique_lock lock(mutex_);
    for (;;) {
        writer_wakes_.wait(lock, [this] { return written_ != filled_ || sampled_; });
        if (written_ == filled_) break;
        LaneBlock& block = ring_[written_ % ring_blocks];
        lock.unlock();
        write_block(block);
        lock.lock();
        ++written_;
        changed_.notify_one();
    }
    lock.unlock();
    const int error = file_.close();
    lock.lock();
    if (error_number_ == 0) error_number_ = error;
}

void LaneThreads::write_block(LaneBlock& block) noexcept {
    const std::size_t size = block.encode(encoded_);
    const int error = file_.append(std::span(encoded_).first(size));
    if (error != 0) dropped_ += block.samples();
    const std::scoped_lock lock(mutex_);
    writer_cpu_ns_ = thread_cpu_ns();
    written_bytes_ = file_.bytes();
    if (error == 0 || error_number_ != 0) return;
    error_number_ = error;
    sampler_wakes_.notify_one();
}

LaneState LaneThreads::state() const {
    const std::scoped_lock lock(mutex_);
    return {.samples = samples_,
            .missed = missed_,
            .dropped = dropped_,
            .bytes = written_bytes_,
            .cpu_ns = sampler_cpu_ns_ + writer_cpu_ns_,
            .longest_read_ns = longest_read_ns_,
            .error_number = error_number_};
}

std::optional<Reading> LaneThreads::latest() const {
    const std::scoped_lock lock(latest_mutex_);
    return has_latest_ ? std::optional(latest_) : std::nullopt;
}

}  // namespace memgauge
