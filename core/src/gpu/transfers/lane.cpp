#include "gpu/transfers/lane.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/timing.hpp"

namespace memgauge::gpu {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t chunk_words = std::size_t{1} << 19U;  // filled and compared at once
constexpr std::size_t chunk_bytes = chunk_words * word_bytes;

// Odd, so that no two words of 2^64 are the same, and of those here none is zero.
constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;

void put_words(std::span<std::uint64_t> into, std::uint64_t first) {
    for (std::uint64_t& word : into) word = ++first * spread;
}

// Calls use(begin, bytes) for pieces of a buffer.
template <class Use>
void for_chunks(std::size_t bytes, const StopCheck& stop, const Use& use) {
    for (std::size_t begin = 0; begin < bytes; begin += chunk_bytes) {
        if (stop && stop()) throw Interrupted();
        use(begin, std::min(chunk_bytes, bytes - begin));
    }
}

constexpr std::size_t words_in(std::size_t bytes) noexcept {
    return (bytes + word_bytes - 1) / word_bytes;
}

void compare(const std::uint64_t* expected, const std::uint64_t* got, std::size_t begin,
             std::size_t bytes, ArrayValidation& into) {
    for (std::size_t word = 0; word < words_in(bytes); ++word) {
        const std::size_t here = std::min(word_bytes, bytes - word * word_bytes);
        if (std::memcmp(expected + word, got + word, here) == 0) continue;
        if (into.failed_elements++ == 0) into.first_failed = begin / word_bytes + word;
    }
}

}  // namespace

void TransferEnd::write(const void* from, std::size_t begin, std::size_t bytes) const {
    if (host) {
        std::memcpy(host->data() + begin, from, bytes);
        return;
    }
    device->enter();
    memory->from_host(from, begin, bytes);
}

void TransferEnd::read(void* into, std::size_t begin, std::size_t bytes) const {
    if (host) {
        std::memcpy(into, host->data() + begin, bytes);
        return;
    }
    device->enter();
    memory->to_host(into, begin, bytes);
}

TransferLane::TransferLane(std::shared_ptr<Device> device, TransferEnd source, TransferEnd target,
                           std::size_t bytes, unsigned number, char array, const StopCheck& stop)
    : device_(std::move(device)),
      source_(std::move(source)),
      target_(std::move(target)),
      bytes_(bytes),
      salt_(std::uint64_t{number} << 48U),
      array_(array) {
    fill(stop);
    clear(bytes_, stop);
    device_->enter();
    device_->check(device_->calls().stream_create(&stream_, cuda::stream_non_blocking),
                   "cuStreamCreate");
}

// At the end of a process the driver may be gone before us: what it says does not matter any more.
TransferLane::~TransferLane() {
    const cuda::Calls& calls = device_->calls();
    calls.context_set(device_->context());
    if (stream_ != nullptr) calls.stream_synchronize(stream_);
    for (cuda::Event event : events_) calls.event_destroy(event);
    if (stream_ != nullptr) calls.stream_destroy(stream_);
}

const HostMemory* TransferLane::host() const noexcept {
    return source_.host ? source_.host.get() : target_.host.get();
}

void TransferLane::fill(const StopCheck& stop) const {
    std::vector<std::uint64_t> words(std::min(chunk_words, words_in(bytes_)));
    for_chunks(bytes_, stop, [&](std::size_t begin, std::size_t bytes) {
        put_words(words, salt_ + begin / word_bytes);
        source_.write(words.data(), begin, bytes);
    });
}

// To what the source holds nowhere.
void TransferLane::clear(std::size_t bytes, const StopCheck& stop) const {
    const std::vector<std::uint64_t> words(std::min(chunk_words, words_in(bytes)), 0);
    for_chunks(bytes, stop, [&](std::size_t begin, std::size_t here) {
        target_.write(words.data(), begin, here);
    });
    // A copy from pageable memory may still be under way when its call has returned, and our stream
    // does not wait for it.
    const std::shared_ptr<Device>& owner = target_.device ? target_.device : source_.device;
    owner->enter();
    owner->check(owner->calls().context_synchronize(), "cuCtxSynchronize");
}

void TransferLane::prepare(std::size_t stamps) {
    while (events_.size() < stamps + 1) {
        cuda::Event event = nullptr;
        device_->check(device_->calls().event_create(&event, cuda::event_default), "cuEventCreate");
        events_.push_back(event);
    }
}

void TransferLane::copy(std::size_t bytes) const {
    const cuda::Calls& calls = device_->calls();
    if (source_.host) {
        device_->check(
            calls.copy_to_device_async(target_.memory->at(), source_.host->data(), bytes, stream_),
            "cuMemcpyHtoDAsync");
    } else if (target_.host) {
        device_->check(
            calls.copy_to_host_async(target_.host->data(), source_.memory->at(), bytes, stream_),
            "cuMemcpyDtoHAsync");
    } else {
        device_->check(calls.copy_to_peer_async(target_.memory->at(), target_.device->context(),
                                                source_.memory->at(), source_.device->context(),
                                                bytes, stream_),
                       "cuMemcpyPeerAsync");
    }
}

void TransferLane::record(std::size_t event) const {
    device_->check(device_->calls().event_record(events_[event], stream_), "cuEventRecord");
}

bool TransferLane::happened(std::size_t event) const {
    const cuda::Result result = device_->calls().event_query(events_[event]);
    if (result != cuda::not_ready) device_->check(result, "cuEventQuery");
    return result == cuda::success;
}

ThreadSlice TransferLane::stamped(std::size_t stamps, const Anchor& anchor) const {
    const double first_ns = -device_->elapsed_ns(events_[0], anchor.event);
    return gpu::stamped(*device_, anchor, first_ns, std::span(events_).first(stamps + 1));
}

void TransferLane::arrived(std::size_t bytes) noexcept {
    arrived_ = std::max(arrived_, bytes);
}

bool TransferLane::validate(ArrayValidation& into, const StopCheck& stop) {
    if (arrived_ == 0) return false;
    into = {};
    into.array = array_;
    into.elements = words_in(arrived_);
    std::vector<std::uint64_t> expected(std::min(chunk_words, into.elements));
    std::vector<std::uint64_t> got(expected.size());
    for_chunks(arrived_, stop, [&](std::size_t begin, std::size_t bytes) {
        put_words(expected, salt_ + begin / word_bytes);
        target_.read(got.data(), begin, bytes);
        compare(expected.data(), got.data(), begin, bytes, into);
    });
    into.average_relative_error =
        static_cast<double>(into.failed_elements) / static_cast<double>(into.elements);
    into.passed = into.failed_elements == 0;
    clear(arrived_, stop);
    arrived_ = 0;
    return true;
}

void TransferLane::corrupt(std::size_t element) const {
    if (element >= words_in(arrived_)) {
        throw RequestError("cannot corrupt 8 bytes " + std::to_string(element) + " of " +
                           std::to_string(words_in(arrived_)) + " that arrived");
    }
    std::byte one{};
    target_.read(&one, element * word_bytes, 1);
    one ^= std::byte{1};
    target_.write(&one, element * word_bytes, 1);
}

}  // namespace memgauge::gpu
