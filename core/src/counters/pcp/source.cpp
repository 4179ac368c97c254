#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "counters/pcp/connection.hpp"
#include "threads/signals_blocked.hpp"

namespace memgauge {
namespace {

using namespace std::chrono_literals;
constexpr auto first_pause = 100ms;
constexpr auto longest_pause = 1000ms;

using Connected = std::unique_ptr<pcp::Connection>;

// Makes connections on a thread of its own, as that may take as long as the library's time-out.
class Connector {
public:
    Connector(std::shared_ptr<const PcpLibrary> library, std::string host, PcpRequest request)
        : library_(std::move(library)), host_(std::move(host)), request_(std::move(request)) {}

    ~Connector() {
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;

    // RequestError: no connection, or it serves none of what is asked for.
    Connected connect() {
        auto made = std::make_unique<pcp::Connection>(library_, host_, request_);
        if (made->resolved() == 0) {
            throw RequestError("pmcd at " + host_ + " serves none of the metrics asked for, " +
                               "such as " + request_.columns.front().metric);
        }
        return made;
    }

    void start() {
        const SignalsBlocked blocked;
        thread_ = std::thread([this] { serve(); });
    }

    // Asks for another in place of `lost`, which is taken down here. Waits for nothing.
    void replace(Connected lost) noexcept {
        {
            const std::scoped_lock lock(mutex_);
            lost_ = std::move(lost);
            wanted_ = true;
        }
        wake_.notify_all();
    }

    // Null: there is none yet.
    Connected take() noexcept {
        if (!ready_now_.load(std::memory_order_acquire)) return nullptr;
        const std::scoped_lock lock(mutex_);
        ready_now_.store(false, std::memory_order_release);
        return std::move(ready_);
    }

private:
    void serve() {
        std::unique_lock lock(mutex_);
        auto pause = first_pause;
        while (true) {
            wake_.wait(lock, [this] { return stopping_ || wanted_; });
            if (stopping_) return;
            Connected lost = std::move(lost_);
            lock.unlock();
            lost.reset();
            Connected made = try_connect();
            lock.lock();
            if (made == nullptr) {
                wake_.wait_for(lock, pause, [this] { return stopping_; });
                pause = std::min(2 * pause, longest_pause);
                continue;
            }
            pause = first_pause;
            ready_ = std::move(made);
            wanted_ = false;
            ready_now_.store(true, std::memory_order_release);
        }
    }

    Connected try_connect() noexcept {
        try {
            return connect();
        } catch (const std::exception&) {
            return nullptr;
        }
    }

    const std::shared_ptr<const PcpLibrary> library_;
    const std::string host_;
    const PcpRequest request_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    bool wanted_ = false;
    Connected lost_;
    Connected ready_;
    std::atomic<bool> ready_now_{false};
    std::thread thread_;
};

}  // namespace

class PcpSource::Running {
public:
    Running(std::shared_ptr<const PcpLibrary> library, std::string host, PcpRequest request)
        : columns_(request.columns),
          had_(columns_.size()),
          last_(columns_.size()),
          connector_(std::move(library), std::move(host), std::move(request)) {
        const SignalsBlocked quiet;
        connection_ = connector_.connect();
        connector_.start();
    }

    [[nodiscard]] std::size_t slots() const noexcept { return 1 + columns_.size(); }

    void read(SlotSpan into) noexcept {
        fetch({into.values.subspan(1), into.present.subspan(1)});
        into.values[0] = generation_;
        into.present[0] = 1;
    }

private:
    void fetch(SlotSpan into) noexcept {
        into.mark_all_missing();
        if (connection_ == nullptr) connection_ = connector_.take();
        if (connection_ == nullptr) return;
        const bool whole = connection_->fetch(into) == pcp::Fetched::whole;
        if (broke(into)) ++generation_;
        if (!whole) connector_.replace(std::move(connection_));
    }

    // Whether a value that was there is missing or went back; one that did is made missing.
    bool broke(SlotSpan into) noexcept {
        bool broken = false;
        for (std::size_t index = 0; index < columns_.size(); ++index) {
            const bool back =
                columns_[index].counts && had_[index] != 0 && into.values[index] < last_[index];
            if (into.present[index] != 0 && back) into.present[index] = 0;
            broken |= had_[index] != 0 && into.present[index] == 0;
            had_[index] = into.present[index];
            last_[index] = into.values[index];
        }
        return broken;
    }

    const std::vector<PcpColumn> columns_;
    std::vector<std::uint8_t> had_;    // which were present the last time, and
    std::vector<std::uint64_t> last_;  // their values
    std::uint64_t generation_ = 1;
    Connector connector_;
    Connected connection_;  // after its maker: taken down before it
};

PcpSource::PcpSource(std::shared_ptr<const PcpLibrary> library, std::string host,
                     PcpRequest request) {
    if (request.columns.empty()) throw RequestError("pcp: no metric to read; give at least one");
    running_ = std::make_unique<Running>(std::move(library), std::move(host), std::move(request));
}

PcpSource::~PcpSource() = default;

std::size_t PcpSource::slots() const noexcept {
    return running_->slots();
}

void PcpSource::read(SlotSpan into) noexcept {
    running_->read(into);
}

}  // namespace memgauge
