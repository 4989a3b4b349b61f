#pragma once

#include "scenarios/strict_json.h"

#include <doctest/doctest.h>

#include <optional>
#include <string_view>
#include <utility>

namespace uringsim::tests {

/// The tree of a text in which nothing is wrong.
inline scenarios::JsonNode parsed(std::string_view text) {
    scenarios::Diagnostics diagnostics;
    std::optional<scenarios::JsonNode> root = scenarios::parse_json("f", text, diagnostics);
    REQUIRE_MESSAGE(root, diagnostics.to_string());
    REQUIRE(diagnostics.to_string() == "");
    return *std::move(root);
}

} // namespace uringsim::tests
