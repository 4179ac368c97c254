#pragma once
// What a Team is made of; shared by the files that implement it.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "memgauge/team.hpp"
#include "threads/workers.hpp"

namespace memgauge {

struct Team::State {
    explicit State(std::vector<int> team_cpus) : cpus(std::move(team_cpus)), workers(cpus) {}

    const std::vector<int> cpus;
    Workers workers;
    std::atomic<bool> stop{false};  // of the parallel() under way
    std::shared_ptr<Reader> reader;
    std::optional<RegionReadings> readings;
};

}  // namespace memgauge
