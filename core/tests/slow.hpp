#pragma once
// Where each access is instrumented or emulated, and a sweep takes ten times as long: tests then
// take a sample of what the release build tries whole.

namespace memgauge::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
inline constexpr bool is_slow = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_slow = true;
#else
inline constexpr bool is_slow = false;
#endif
#else
inline constexpr bool is_slow = false;
#endif

}  // namespace memgauge::test
