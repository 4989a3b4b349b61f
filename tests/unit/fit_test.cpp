// The solver behind calibrate, by problems whose answer is known.

#include "analysis/fit.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace uringsim::analysis;

namespace {

FitUnknown unknown(const char* name, double prior, double min, double max) {
    return {name, prior, min, max, prior / 2};
}

} // namespace

TEST_CASE("one unknown, one measurement: the weighted mean of prior and measurement") {
    // (x - 12)^2 / 4 + (x - 10)^2 / 25 is least at (12 / 4 + 10 / 25) / (1 / 4 + 1 / 25).
    const FitResult result = fit({{unknown("x", 10, 1, 100)}, {{"m", {1}, 0, 12, 2}}});
    CHECK(result.values[0].value == doctest::Approx((3 + 0.4) / 0.29).epsilon(1e-4));
    CHECK(result.values[0].standing == FitStanding::determined);
    CHECK(result.values[0].resolution == doctest::Approx(1 - 0.04 / 0.29));
    CHECK(result.values[0].standard_error == doctest::Approx(1 / std::sqrt(0.29)));
}

TEST_CASE("exact measurements give back the costs that made them") {
    const FitProblem problem{{unknown("a", 10, 1, 100), unknown("b", 20, 1, 100)},
                             {{"1", {100, 10}, 5, 100 * 13 + 10 * 31 + 5, 0.1},
                              {"2", {10, 100}, 0, 10 * 13 + 100 * 31, 0.1},
                              {"3", {50, 50}, -7, 50 * 13 + 50 * 31 - 7, 0.1}}};
    const FitResult result = fit(problem);
    CHECK(result.values[0].value == doctest::Approx(13).epsilon(1e-4));
    CHECK(result.values[1].value == doctest::Approx(31).epsilon(1e-4));
    CHECK(result.residuals[2].fitted == doctest::Approx(50 * 44 - 7).epsilon(1e-5));
    CHECK(result.residuals[2].left_out == doctest::Approx(50 * 44 - 7).epsilon(1e-3));
    CHECK(result.condition >= 1);
}

TEST_CASE("a value stays in its range, and the others make up for it") {
    const FitProblem problem{{unknown("a", 10, 5, 15), unknown("b", 20, 1, 100)},
                             {{"1", {1, 0}, 0, 50, 0.1}, {"2", {1, 1}, 0, 55, 0.1}}};
    const FitResult result = fit(problem);
    CHECK(result.values[0].value == 15);
    CHECK(result.values[0].at_bound);
    CHECK(result.values[1].value == doctest::Approx(40).epsilon(1e-3));
    CHECK_FALSE(result.values[1].at_bound);
}

TEST_CASE("unknowns that the measurements cannot tell apart: one stays at its prior and says so") {
    const FitProblem problem{
        {unknown("a", 10, 1, 100), unknown("b", 10, 1, 100)},
        {{"1", {1, 1}, 0, 30, 0.1}, {"2", {2, 2}, 0, 60, 0.1}, {"3", {3, 3}, 0, 90, 0.1}}};
    const FitResult result = fit(problem);
    CHECK(result.determined == 1);
    const std::size_t kept = result.values[0].standing == FitStanding::at_prior ? 0 : 1;
    CHECK(result.values[kept].value == 10);
    REQUIRE(result.values[kept].confused_with.size() == 1);
    CHECK(result.values[kept].confused_with[0] == (kept == 0 ? "b" : "a"));
    CHECK(result.values[1 - kept].value == doctest::Approx(20).epsilon(1e-3));
}

TEST_CASE("an unknown that nothing depends on stays at its prior") {
    const FitProblem problem{{unknown("a", 10, 1, 100), unknown("b", 7, 1, 100)},
                             {{"1", {1, 0}, 0, 30, 0.1}, {"2", {2, 0}, 0, 60, 0.1}}};
    const FitResult result = fit(problem);
    CHECK(result.values[1].standing == FitStanding::at_prior);
    CHECK(result.values[1].value == 7);
    CHECK(result.values[1].confused_with.empty());
}
