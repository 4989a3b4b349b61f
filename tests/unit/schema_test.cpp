// The JSON schemas: that they take every shipped file, and refuse what the readers refuse.

#include "analysis/schema/schema.h"
#include "models/design.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "cli_test.h"
#include "support.h"

using namespace uringsim;
using analysis::FileKind;
using Json = nlohmann::json;

namespace {

/// The part of JSON Schema that json_schema() writes.
class Checker {
  public:
    explicit Checker(const Json& root)
        : root_(root) {}

    bool accepts(const Json& value) const { return accepts(root_, value); }

  private:
    bool accepts(const Json& schema, const Json& value) const {
        if (schema.contains("$ref")) {
            const std::string reference = schema["$ref"];
            return accepts(root_.at(Json::json_pointer(reference.substr(1))), value);
        }
        if (schema.contains("anyOf")) {
            return std::ranges::any_of(schema["anyOf"],
                                       [&](const Json& each) { return accepts(each, value); });
        }
        if (schema.contains("const")) {
            return value == schema["const"];
        }
        if (schema.contains("enum")) {
            return std::ranges::find(schema["enum"], value) != schema["enum"].end();
        }
        return !schema.contains("type") || of_type(schema, schema["type"], value);
    }

    bool of_type(const Json& schema, const std::string& type, const Json& value) const {
        if (type == "object") {
            return value.is_object() && members(schema, value);
        }
        if (type == "array") {
            return value.is_array() && value.size() >= schema.value("minItems", 0U) &&
                   std::ranges::all_of(value, [&](const Json& each) {
                       return !schema.contains("items") || accepts(schema["items"], each);
                   });
        }
        if (type == "string") {
            return value.is_string() &&
                   (!schema.contains("pattern") || value.get<std::string>().starts_with('$'));
        }
        if (type == "integer" || type == "number") {
            return (type == "integer" ? value.is_number_integer() : value.is_number()) &&
                   in_range(schema, value);
        }
        return type == "boolean" ? value.is_boolean() : value.is_null();
    }

    static bool in_range(const Json& schema, const Json& value) {
        return (!schema.contains("minimum") || value >= schema["minimum"]) &&
               (!schema.contains("exclusiveMinimum") || value > schema["exclusiveMinimum"]) &&
               (!schema.contains("maximum") || value <= schema["maximum"]);
    }

    bool members(const Json& schema, const Json& value) const {
        for (const Json& key : schema.value("required", Json::array())) {
            if (!value.contains(key)) {
                return false;
            }
        }
        const Json known = schema.value("properties", Json::object());
        const Json other = schema.value("additionalProperties", Json(true));
        return std::ranges::all_of(value.items(), [&](const auto& member) {
            if (known.contains(member.key())) {
                return accepts(known[member.key()], member.value());
            }
            return other.is_boolean() ? other.get<bool>() : accepts(other, member.value());
        });
    }

    const Json& root_;
};

Json schema_of(FileKind kind) {
    return Json::parse(analysis::json_schema(kind));
}

Json shipped(FileKind kind, const std::string& name) {
    return Json::parse(tests::read_file(tests::library().path_of(kind, name)));
}

} // namespace

TEST_CASE("every shipped file is as its schema says") {
    for (const FileKind kind : {FileKind::scenario, FileKind::design, FileKind::machine,
                                FileKind::published, FileKind::sweep}) {
        const Json schema = schema_of(kind);
        const auto names = tests::library().names(kind);
        CHECK(names.size() > (kind == FileKind::sweep ? 1 : 3));
        for (const std::string& name : names) {
            INFO(analysis::kind_name(kind), " ", name);
            CHECK(Checker(schema).accepts(shipped(kind, name)));
        }
    }
}

TEST_CASE("the schema of designs has every knob with its range and its choices") {
    const Json schema = schema_of(FileKind::design);
    const Json& knobs = schema["properties"]["knobs"]["properties"];
    CHECK(knobs.size() == models::knob_table().size());
    CHECK(knobs["node_cache.limit"]["maximum"] == models::find_knob("node_cache.limit")->max);
    CHECK(knobs["node_cache.prefill"]["enum"] == Json({"never", "always", "flag"}));

    Json design = {{"name", "x"}, {"knobs", {{"node_cache.limit", 128}}}};
    CHECK(Checker(schema).accepts(design));
    design["knobs"]["node_cache.limit"] = -1;
    CHECK_FALSE(Checker(schema).accepts(design));
    design["knobs"] = {{"node_cache.limits", 128}};
    CHECK_FALSE(Checker(schema).accepts(design));
    CHECK_FALSE(Checker(schema).accepts({{"knobs", Json::object()}})); // no name
}

TEST_CASE("the schema of scenarios refuses what is wrong inside a program") {
    const Json schema = schema_of(FileKind::scenario);
    const Json good = shipped(FileKind::scenario, "first-fill");
    REQUIRE(Checker(schema).accepts(good));
    const auto refused = [&](const Json& statement) {
        Json bad = good;
        bad["tasks"][0]["program"].push_back(statement);
        return !Checker(schema).accepts(bad);
    };
    CHECK_FALSE(refused({{"op", "nop"}, {"ring", "r"}, {"count", 3}}));
    CHECK_FALSE(refused({{"op", "nop"}, {"ring", "r"}, {"count", "$slots"}}));
    CHECK(refused({{"op", "nop"}, {"ring", "r"}, {"count", 3.5}}));
    CHECK(refused({{"op", "nop"}, {"ring", "r"}, {"counts", 3}}));
    CHECK(refused({{"op", "nop"}}));
    CHECK(refused({{"op", "no_such"}}));
    CHECK(refused({{"repeat", 2}, {"do", {{{"op", "no_such"}}}}}));
    CHECK_FALSE(refused({{"repeat", 2}, {"do", {{{"op", "sleep"}, {"us", 1}}}}}));
    // Which quantities are of a ring only the readers know.
    CHECK_FALSE(refused({{"op", "assert"}, {"quantity", "rings_alive"}, {"equals", 1}}));
}

TEST_CASE("the schema of sweeps has axes, zipped ones, and values of all kinds") {
    const Json schema = schema_of(FileKind::sweep);
    Json sweep = shipped(FileKind::sweep, "limits");
    REQUIRE(Checker(schema).accepts(sweep));
    const auto takes_axis = [&](const Json& axis) {
        sweep["axes"] = Json::array({axis}); // {axis} is a copy of it to clang
        return Checker(schema).accepts(sweep);
    };
    CHECK(takes_axis({{"axis", "node_cache.limit"}, {"values", "64..4096x2"}}));
    CHECK(takes_axis({{"axis", "node_cache.enabled"}, {"values", {true, false}}}));
    CHECK_FALSE(takes_axis({{"axis", 7}, {"values", {1}}}));
    CHECK_FALSE(takes_axis({{"axis", "seed"}, {"value", {1}}}));
    const Json one = {{"axis", "seed"}, {"values", {1, 2}}};
    CHECK(takes_axis({{"zip", {one, {{"axis", "param:slots"}, {"values", {8, 16}}}}}}));
    CHECK_FALSE(takes_axis({{"zip", Json::array({one})}}));
    sweep = shipped(FileKind::sweep, "limits");
    sweep["repeats"] = 0;
    CHECK_FALSE(Checker(schema).accepts(sweep));
    CHECK(tests::call({"list", "sweeps"}).out.find("cache-limits") != std::string::npos);
}

TEST_CASE("explain says what an operation takes") {
    const tests::Called called = tests::call({"explain", "pace"});
    CHECK(called.status == 0);
    CHECK(called.out ==
          "pace: an operation of scenarios; its keys:\n"
          "  rule      \"credit\", \"sleep\", \"spin\", \"grid\", or a parameter; required\n"
          "  delay_us  a whole number from 1 to 3600000000 (us), or a parameter; required\n"
          "  loss_us   a whole number from 0 to 1000 (us), or a parameter; default 48\n");
    const auto keys = analysis::operation_keys("nop");
    REQUIRE(keys);
    const auto batch = std::ranges::find(*keys, "batch", &analysis::RecordedKey::name);
    REQUIRE(batch != keys->end());
    CHECK(analysis::shape_text(batch->shape) ==
          "a whole number from 1 to 32768 (requests), or a parameter; default 1");
    CHECK_FALSE(analysis::operation_keys("nops").has_value());
}

TEST_CASE("schema knows its kinds") {
    CHECK(tests::call({"schema", "scenario"}).out == analysis::json_schema(FileKind::scenario));
    const tests::Called wrong = tests::call({"schema", "scenarios"});
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("did you mean \"scenario\"?") != std::string::npos);
}
