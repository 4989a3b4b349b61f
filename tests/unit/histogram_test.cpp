#include "sim/histogram.h"
#include "sim/idle.h"
#include "sim/jitter.h"
#include "sim/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace uringsim::sim;

TEST_CASE("histogram: small values are exact, buckets are 64 to a power of two") {
    Histogram histogram;
    for (std::uint64_t value = 0; value < 128; ++value) {
        histogram.add(value);
    }
    CHECK(histogram.percentile(50000) == 63);
    CHECK(histogram.min() == 0);
    CHECK(histogram.max() == 127);
    CHECK(histogram.mean() == doctest::Approx(63.5));

    Histogram wide;
    wide.add(128); // shares a bucket with 129, but not with 130
    wide.add(129);
    wide.add(130);
    const auto buckets = wide.buckets();
    REQUIRE(buckets.size() == 2);
    CHECK(buckets[0].low == 128);
    CHECK(buckets[0].high == 129);
    CHECK(buckets[0].count == 2);
    CHECK(buckets[1].low == 130);
    // as fio: 2544 lies in [2528, 2559], whose middle is 2544
    Histogram fio;
    fio.add(2530);
    fio.add(9000);
    CHECK(fio.percentile(50000) == 2544);
}

TEST_CASE("histogram: percentiles are those of a sorted list, within the stated error") {
    RandomStream stream(7, "histogram test");
    std::vector<std::uint64_t> values;
    Histogram histogram;
    Histogram halves[2];
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t value = stream.below(std::uint64_t{1} << (3 + stream.below(30)));
        values.push_back(value);
        histogram.add(value);
        halves[i % 2].add(value);
    }
    std::ranges::sort(values);
    for (const std::uint32_t p : {1000U, 10000U, 50000U, 90000U, 99000U, 99900U, 99990U}) {
        const auto rank = static_cast<std::size_t>(std::ceil(static_cast<double>(p) * 0.2)) - 1;
        const auto exact = static_cast<double>(values[rank]);
        const auto found = static_cast<double>(histogram.percentile(p));
        CHECK(std::abs(found - exact) <= exact * Histogram::error_percent / 100 + 1e-9);
    }
    halves[0].merge(halves[1]);
    CHECK(halves[0].count() == histogram.count());
    CHECK(halves[0].percentile(99000) == histogram.percentile(99000));
    CHECK(Histogram{}.percentile(50000) == 0);
}

TEST_CASE("jitter: the mean is the base, the spread its bound, the tail as rare as said") {
    RandomStream stream(3, "jitter test");
    const Jitter shape{1000, 250, 100000, 5000};
    double sum = 0;
    int tails = 0;
    constexpr int draws = 100000;
    for (int i = 0; i < draws; ++i) {
        const Cycles length = shape.draw(stream);
        CHECK_GE(length, 750);
        CHECK_LE(length, 6250);
        tails += length > 1250 ? 1 : 0;
        sum += static_cast<double>(length);
    }
    CHECK(sum / draws == doctest::Approx(1000 + 0.1 * 2500).epsilon(0.01));
    CHECK(tails == doctest::Approx(0.1 * draws * 0.95).epsilon(0.06));

    RandomStream untouched(3, "jitter test");
    RandomStream constant(3, "jitter test");
    CHECK(Jitter{77, 0, 0, 0}.draw(constant) == 77);
    CHECK(constant.next() == untouched.next()); // a constant draws nothing
}

TEST_CASE("idle model: deeper by length of idleness; a wake-up on the way there turns round") {
    IdleConfig config;
    config.turn_round = {50, 0, 0, 0};
    config.states = {{"poll", 0, 0, 1'000'000, true, {100, 0, 0, 0}},
                     {"C1", 1000, 1000, 1'000'000, false, {800, 0, 0, 0}},
                     {"never", 2000, 2000, 0, false, {9000, 0, 0, 0}}};
    IdleModel idle(config, 1, 2);
    CHECK(idle.exit_latency(0, -1) == 50);
    CHECK(idle.exit_latency(0, 0) == 100);
    CHECK(idle.exit_latency(0, 999) == 100);
    CHECK(idle.exit_latency(1, 1000) == 800);
    CHECK(idle.exit_latency(1, 1'000'000) == 800); // a chance of 0
    CHECK(idle.state(0, 10).polling);
    CHECK_FALSE(idle.state(0, 5000).polling);
    CHECK_FALSE(IdleModel({}, 1, 2).enabled());
}
