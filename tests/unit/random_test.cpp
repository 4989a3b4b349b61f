// Named random streams.

#include "sim/random.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <stdexcept>

using uringsim::sim::RandomStream;

TEST_CASE("the same seed and name give the same numbers, anything else gives others") {
    RandomStream a(1, "slabs");
    RandomStream b(1, "slabs");
    RandomStream c(2, "slabs");
    RandomStream d(1, "timers");
    int same_c = 0;
    int same_d = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t draw = a.next();
        CHECK(draw == b.next());
        same_c += draw == c.next() ? 1 : 0;
        same_d += draw == d.next() ? 1 : 0;
    }
    CHECK(same_c == 0);
    CHECK(same_d == 0);
}

TEST_CASE("the numbers are xoshiro256**, seeded by splitmix64") {
    // Computed from the published algorithms by an implementation of its own (Python integers).
    RandomStream stream(1, "x");
    CHECK(stream.next() == 0x9c2ffbb6b44a8b79ULL);
    CHECK(stream.next() == 0x9f8035f86a625502ULL);
    CHECK(stream.next() == 0xc42f1462691d50fdULL);
}

TEST_CASE("below() stays below, reaches every value and favours none") {
    RandomStream stream(7, "dice");
    std::array<int, 6> seen{};
    constexpr int draws = 60'000;
    for (int i = 0; i < draws; ++i) {
        const std::uint64_t draw = stream.below(6);
        REQUIRE(draw < 6);
        ++seen[draw];
    }
    for (const int count : seen) {
        CHECK(count > draws / 6 - 500); // more than 5 standard deviations
        CHECK(count < draws / 6 + 500);
    }
    CHECK(stream.below(1) == 0);
    CHECK_THROWS_AS(stream.below(0), std::invalid_argument);
    const std::uint64_t huge = (1ULL << 63U) + 1; // half of all draws are thrown away
    for (int i = 0; i < 100; ++i) {
        CHECK(stream.below(huge) < huge);
    }
}
