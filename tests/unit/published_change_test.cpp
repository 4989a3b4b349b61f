// Changes from one published figure to another: whether a sign is right, wrong, or not to be had.

#include "analysis/published_change.h"
#include "analysis/validate.h"

#include <doctest/doctest.h>

#include "support.h"

using namespace uringsim;
using analysis::Sign;

namespace {

analysis::ValidatedFigure figure(const char* id, double published, double noise, double simulated) {
    analysis::ValidatedFigure cell;
    cell.figure.source = "mail";
    cell.figure.id = id;
    cell.figure.value = published;
    cell.figure.noise_percent = noise;
    cell.simulated = simulated;
    return cell;
}

/// The change from 100, simulated 200, to a figure.
analysis::PublishedChange change_to(analysis::ValidatedFigure after, double noise) {
    after.figure.against = "before";
    const auto changes = analysis::changes_between({figure("before", 100, noise, 200), after});
    REQUIRE(changes.size() == 1);
    return changes.front();
}

/// Reads a file of two figures, the second with `key`; what is wrong with it.
std::string complaints(const char* metric, const std::string& key) {
    const std::string row = R"("scenario": "first-fill", "design": "linux-6.18",
        "machine": "i7-12700kf", "phase": "fill", "value": 1, "unit": "x", "use": "predict")";
    const std::string text = R"({ "source": "s", "citation": "c", "figures": [
        { "id": "a", "metric": ")" +
                             std::string(metric) + R"(", )" + row + R"( },
        { "id": "b", "metric": "us", )" +
                             key + row + "} ] }";
    scenarios::Diagnostics diagnostics;
    const auto root = scenarios::parse_json("x.json", text, diagnostics);
    REQUIRE(root);
    (void)analysis::read_published(*root, diagnostics);
    return diagnostics.to_string();
}

} // namespace

TEST_CASE("a change has a sign where it is larger than the noise of its two figures together") {
    // Noises of 3 and 4 make 5 points.
    const auto larger = change_to(figure("after", 106, 3, 202), 4);
    CHECK(larger.published_percent == doctest::Approx(6));
    CHECK(larger.simulated_percent == doctest::Approx(1));
    CHECK(*larger.noise_percent == doctest::Approx(5));
    CHECK(larger.sign == Sign::right);
    CHECK(change_to(figure("after", 106, 3, 198), 4).sign == Sign::wrong);
    CHECK(change_to(figure("after", 106, 3, 198), 4).is_broken());
    CHECK(change_to(figure("after", 104, 3, 198), 4).sign == Sign::within_noise);
    CHECK(change_to(figure("after", 94, 3, 199), 4).sign == Sign::right);
}

TEST_CASE("a change without noise has a sign however small; one of a failed gate breaks nothing") {
    auto after = figure("after", 100.1, 1, 199);
    after.figure.noise_percent.reset();
    CHECK(change_to(after, 5).sign == Sign::wrong);
    after.figure.gate_passed = false;
    CHECK(change_to(after, 5).sign == Sign::wrong);
    CHECK_FALSE(change_to(after, 5).is_broken());
}

TEST_CASE("\"against\" names a cost of the same metric in the same file") {
    CHECK(complaints("us", R"("against": "a", )").empty());
    CHECK(complaints("us", R"("against": "z", )").find("/figures/1: there is no figure \"z\"") !=
          std::string::npos);
    CHECK(complaints("per_second", R"("against": "a", )").find("a change is between two costs") !=
          std::string::npos);
}

TEST_CASE("the signs of the fixed-file sources: every change that is larger than its noise") {
    scenarios::Diagnostics diagnostics;
    auto files = analysis::load_published_files(tests::library(), diagnostics);
    std::erase_if(files, [](const analysis::PublishedFile& file) {
        return file.source != "rfc-rsrc-node-allocation" && file.source != "send-fd-evidence";
    });
    const auto validation = analysis::validate(tests::library(), files, 2, diagnostics);
    REQUIRE(validation);
    CHECK(validation->between.size() == 17);
    std::size_t with_a_sign = 0;
    for (const analysis::PublishedChange& change : validation->between) {
        INFO(change.id, " against ", change.against, ": ", change.published_percent,
             " %, simulated ", change.simulated_percent, " %");
        CHECK(change.sign != Sign::wrong);
        with_a_sign += change.sign == Sign::right ? 1 : 0;
    }
    CHECK(with_a_sign == 11);
}
