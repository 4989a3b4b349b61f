#include "scenarios/strict_json.h"

#include <doctest/doctest.h>

#include <array>
#include <clocale>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsed_json.h"

using namespace uringsim::scenarios;
using uringsim::tests::parsed;

namespace {

std::string error_of_integer(std::string_view text, const IntegerRange& range) {
    std::string error;
    CHECK_FALSE(parse_integer(text, range, error));
    return error;
}

std::string error_of_number(std::string_view text, const NumberRange& range) {
    std::string error;
    CHECK_FALSE(parse_number(text, range, error));
    return error;
}

constexpr std::array<std::string_view, 3> prefill_names{"never", "always", "flag"};

} // namespace

TEST_SUITE("strict_json") {

    TEST_CASE("integers as text: decimal and in range, or the reason why not") {
        const IntegerRange slots{1, 65536, "slots"};
        std::string error = "untouched";
        CHECK(parse_integer("1", slots, error) == 1);
        CHECK(parse_integer("65536", slots, error) == 65536);
        CHECK(parse_integer("-9223372036854775808", {}, error) ==
              std::numeric_limits<std::int64_t>::min());
        CHECK(parse_integer("9223372036854775807", {}, error) ==
              std::numeric_limits<std::int64_t>::max());
        CHECK(parse_integer("-0", {}, error) == 0);
        CHECK(error == "untouched");

        const std::string must = "must be a whole number from 1 to 65536 (slots); got ";
        CHECK(error_of_integer("3.9", slots) == must + "3.9");
        CHECK(error_of_integer("0", slots) == must + "0");
        CHECK(error_of_integer("-1", slots) == must + "-1");
        CHECK(error_of_integer("65537", slots) == must + "65537");
        CHECK(error_of_integer("18446744073709551616", slots) == must + "18446744073709551616");
        CHECK(error_of_integer("abc", slots) == must + "\"abc\"");
        CHECK(error_of_integer("", slots) == must + "\"\"");
        CHECK(error_of_integer("0x10", slots) == must + "\"0x10\"");
        CHECK(error_of_integer("5 6", slots) == must + "\"5 6\"");
        CHECK(error_of_integer("1,000", slots) == must + "\"1,000\"");
        CHECK(error_of_integer("--5", slots) == must + "--5");
        CHECK(error_of_integer("1e9", slots) == must + "1e9");
        CHECK(error_of_integer("1e400", slots) == must + "1e400");
        CHECK(error_of_integer(std::string_view("5\0", 2), slots) == must + "\"5\\u0000\"");
        CHECK(error_of_integer("\xFF", slots) == must + "\"\xEF\xBF\xBD\"");
        CHECK(error_of_integer(std::string(1000, '7'), slots) ==
              must + std::string(60, '7') + "...");
        // What is only written wrongly is written right in the message.
        CHECK(error_of_integer("1e3", slots) == must + "1e3; did you mean \"1000\"?");
        CHECK(error_of_integer("2.0", slots) == must + "2.0; did you mean \"2\"?");
        CHECK(error_of_integer("+5", slots) == must + "+5; did you mean \"5\"?");
        CHECK(error_of_integer(" 5", slots) == must + "\" 5\"; did you mean \"5\"?");
        CHECK(error_of_integer("007", slots) == must + "007; did you mean \"7\"?");
        CHECK(error_of_integer("65_536", slots) == must + "\"65_536\"; did you mean \"65536\"?");
        CHECK(error_of_integer("9223372036854775808", {}) ==
              "must be a whole number from -9223372036854775808 to 9223372036854775807; got "
              "9223372036854775808");
        CHECK(error_of_integer("x", {0, 9, "ns", "a parameter such as \"$n\""}) ==
              "must be a whole number from 0 to 9 (ns), or a parameter such as \"$n\"; got \"x\"");
    }

    TEST_CASE("unsigned integers have all 64 bits") {
        std::string error;
        CHECK(parse_unsigned("18446744073709551615", {}, error) ==
              std::numeric_limits<std::uint64_t>::max());
        CHECK_FALSE(parse_unsigned("18446744073709551616", {}, error));
        CHECK(error == "must be a whole number from 0 to 18446744073709551615; got "
                       "18446744073709551616");
        CHECK_FALSE(parse_unsigned("-1", {1, 5, "seed"}, error));
        CHECK(error == "must be a whole number from 1 to 5 (seed); got -1");
    }

    TEST_CASE("numbers as text: finite and in range") {
        std::string error = "untouched";
        const NumberRange fraction{0, 1, "fraction"};
        CHECK(parse_number("0", fraction, error) == 0.0);
        CHECK(parse_number("1", fraction, error) == 1.0);
        CHECK(parse_number("2.5e-1", fraction, error) == 0.25);
        CHECK(parse_number("-1e300", {}, error) == -1e300);
        CHECK(error == "untouched");
        const std::string must = "must be a number from 0 to 1 (fraction); got ";
        CHECK(error_of_number("1.0001", fraction) == must + "1.0001");
        CHECK(error_of_number("-0.1", fraction) == must + "-0.1");
        CHECK(error_of_number("nan", fraction) == must + "\"nan\"");
        CHECK(error_of_number("inf", fraction) == must + "\"inf\"");
        CHECK(error_of_number(".5", fraction) == must + ".5");
        CHECK(error_of_number("0x1p-3", fraction) == must + "\"0x1p-3\"");
        CHECK(error_of_number("0.5 ", fraction) == must + "\"0.5 \"");
        CHECK(error_of_number("", fraction) == must + "\"\"");
        CHECK(error_of_number("1e400", {}) ==
              "must be a number; got 1e400, which is beyond the range of a double");
        CHECK(NumberRange{.min = 0.5}.to_string() == "a number of at least 0.5");
        CHECK(NumberRange{.max = 2}.to_string() == "a number of at most 2");
        CHECK(NumberRange{0, 10, "GHz", true}.to_string() ==
              "a number above 0 and at most 10 (GHz)");
        CHECK(NumberRange{.min = 0, .min_excluded = true}.to_string() == "a number above 0");
        CHECK(error_of_number("0", {.min = 0, .min_excluded = true}) ==
              "must be a number above 0; got 0");
        CHECK(parse_number("5e-324", {.min = 0, .min_excluded = true}, error) == 5e-324);
    }

    TEST_CASE("numbers do not depend on the locale") {
        const std::string before = std::setlocale(LC_NUMERIC, nullptr);
        for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
            if (std::setlocale(LC_NUMERIC, name) == nullptr)
                continue;
            std::string error;
            CHECK(parse_number("2.5", {}, error) == 2.5);
            CHECK(parsed("[2.5]").children().at(0).text() == "2.5");
        }
        std::setlocale(LC_NUMERIC, before.c_str());
    }

    TEST_CASE("booleans and choices as text") {
        std::string error;
        CHECK(parse_boolean("true", error) == true);
        CHECK(parse_boolean("false", error) == false);
        CHECK_FALSE(parse_boolean("yes", error));
        CHECK(error == "must be true or false; got \"yes\"");
        CHECK_FALSE(parse_boolean("True", error));
        CHECK(error == "must be true or false; got \"True\"; did you mean \"true\"?");
        CHECK(parse_choice("flag", prefill_names, error) == 2U);
        CHECK_FALSE(parse_choice("alway", prefill_names, error));
        CHECK(error ==
              "must be one of \"never\", \"always\", \"flag\"; got \"alway\"; did you mean "
              "\"always\"?");
        CHECK_FALSE(parse_choice("x", std::array<std::string_view, 1>{"only"}, error));
        CHECK(error == "must be \"only\"; got \"x\"");
    }

    TEST_CASE("getters: no type is taken for another") {
        const JsonNode root = parsed(R"([3, 3.9, 1e3, -1, "12", "x", true, null, [], {}, ""])");
        const auto at = [&](std::size_t i) -> const JsonNode& { return root.children().at(i); };
        Diagnostics d;
        const IntegerRange slots{1, 65536, "slots"};
        CHECK(get_integer(at(0), slots, d) == 3);
        CHECK(get_unsigned(at(0), {}, d) == 3U);
        CHECK(get_number(at(0), {}, d) == 3.0);
        CHECK(get_number(at(1), {}, d) == 3.9);
        CHECK(get_boolean(at(6), d) == true);
        CHECK(get_string(at(10), d) == "");
        CHECK(get_name(at(5), d) == "x");
        CHECK(get_array(at(8), d) == &at(8));
        CHECK(get_object(at(9), d) == &at(9));
        CHECK(d.empty());

        CHECK_FALSE(get_integer(at(1), slots, d));
        CHECK_FALSE(get_integer(at(2), slots, d));
        CHECK_FALSE(get_unsigned(at(3), {}, d));
        CHECK_FALSE(get_integer(at(4), slots, d));
        CHECK_FALSE(get_integer(at(5), slots, d));
        CHECK_FALSE(get_integer(at(6), slots, d));
        CHECK_FALSE(get_number(at(7), {}, d));
        CHECK_FALSE(get_number(at(8), {}, d));
        CHECK_FALSE(get_boolean(at(9), d));
        CHECK_FALSE(get_boolean(at(0), d));
        CHECK_FALSE(get_string(at(0), d));
        CHECK_FALSE(get_name(at(10), d));
        CHECK_FALSE(get_choice(at(5), prefill_names, d));
        CHECK_FALSE(get_choice(at(6), prefill_names, d));
        CHECK(get_array(at(9), d) == nullptr);
        CHECK(get_array(at(8), d, 1) == nullptr);
        CHECK(get_object(at(8), d) == nullptr);
        std::string found;
        for (const Diagnostic& diagnostic : d.all())
            found += diagnostic.to_string() + "\n";
        CHECK(found ==
              "f:1:5: /1: must be a whole number from 1 to 65536 (slots); got 3.9\n"
              "f:1:10: /2: must be a whole number from 1 to 65536 (slots); got 1e3; did you mean "
              "\"1000\"?\n"
              "f:1:15: /3: must be a whole number from 0 to 18446744073709551615; got -1\n"
              "f:1:19: /4: must be a whole number from 1 to 65536 (slots); got the string \"12\"; "
              "write "
              "it without the quotes\n"
              "f:1:25: /5: must be a whole number from 1 to 65536 (slots); got the string \"x\"\n"
              "f:1:30: /6: must be a whole number from 1 to 65536 (slots); got true\n"
              "f:1:36: /7: must be a number; got null\n"
              "f:1:42: /8: must be a number; got an array\n"
              "f:1:46: /9: must be true or false; got an object\n"
              "f:1:2: /0: must be true or false; got 3\n"
              "f:1:2: /0: must be a string; got 3\n"
              "f:1:50: /10: must be a string that is not empty; got the string \"\"\n"
              "f:1:25: /5: must be one of \"never\", \"always\", \"flag\"; got \"x\"\n"
              "f:1:30: /6: must be one of \"never\", \"always\", \"flag\"; got true\n"
              "f:1:46: /9: must be an array; got an object\n"
              "f:1:42: /8: must be an array of at least 1 item; got 0\n"
              "f:1:42: /8: must be an object; got an array\n");
    }

    TEST_CASE("ObjectReader: a good object") {
        const JsonNode root = parsed(R"({"$schema": "s", "slots": 4, "seed": 18446744073709551615,
        "f": 0.5, "on": true, "name": "n", "text": "", "prefill": "flag", "list": [1], "map": {}})");
        Diagnostics diagnostics;
        ObjectReader reader(root, diagnostics);
        reader.ignore("$schema");
        CHECK(reader.integer("slots", {1, 9}) == 4);
        CHECK(reader.unsigned_integer("seed", {}) == std::numeric_limits<std::uint64_t>::max());
        CHECK(reader.number("f", {}) == 0.5);
        CHECK(reader.boolean("on") == true);
        CHECK(reader.name("name") == "n");
        CHECK(reader.string("text") == "");
        CHECK(reader.choice("prefill", prefill_names) == 2U);
        CHECK(reader.array("list", 1) == root.find("list"));
        CHECK(reader.object("map") == root.find("map"));
        CHECK(reader.optional("absent") == nullptr);
        CHECK(reader.optional_array("absent") == nullptr);
        CHECK(reader.optional_object("absent") == nullptr);
        CHECK(reader.integer_or("absent", {1, 9}, 7) == 7);
        CHECK(reader.integer_or("slots", {1, 9}, 7) == 4);
        CHECK(reader.unsigned_integer_or("absent", {}, 7) == 7U);
        CHECK(reader.number_or("absent", {}, 1.5) == 1.5);
        CHECK(reader.boolean_or("absent", true));
        CHECK(reader.string_or("absent", "dflt") == "dflt");
        CHECK(reader.choice_or("absent", prefill_names, 1) == 1U);
        CHECK(reader.finish());
        CHECK(diagnostics.to_string() == "");
    }

    TEST_CASE("ObjectReader: every error of an object at once, sorted by position") {
        const JsonNode root =
            parsed("{\n  \"slot\": 3,\n  \"batch\": 0,\n  \"zzzzzz\": {\"x\": 1},\n"
                   "  \"rounds\": \"15\"\n}");
        Diagnostics diagnostics;
        {
            ObjectReader reader(root, diagnostics);
            CHECK(reader.integer_or("rounds", {1, 100}, 15) == 15);
            CHECK_FALSE(reader.integer("batch", {1, 64, "entries"}));
            CHECK_FALSE(reader.integer("slots", {1, 9}));
            CHECK(reader.required("rounds") != nullptr); // asked twice, listed once
            CHECK_FALSE(reader.finish());
            CHECK_FALSE(reader.finish());
        } // neither the second finish() nor the destructor reports again
        CHECK(diagnostics.to_string() ==
              "f:1:1: the key \"slots\" is missing\n"
              "f:2:3: /slot: unknown key \"slot\"; allowed: \"rounds\", \"batch\", \"slots\"; did "
              "you "
              "mean \"slots\"?\n"
              "f:3:12: /batch: must be a whole number from 1 to 64 (entries); got 0\n"
              "f:4:3: /zzzzzz: unknown key \"zzzzzz\"; allowed: \"rounds\", \"batch\", \"slots\"\n"
              "f:5:13: /rounds: must be a whole number from 1 to 100; got the string \"15\"; write "
              "it "
              "without the quotes\n");
    }

    TEST_CASE("ObjectReader: the destructor finishes; a non-object is reported once") {
        const JsonNode root = parsed(R"({"a": [1], "b": {"c": 1}})");
        Diagnostics diagnostics;
        { ObjectReader reader(*root.find("b"), diagnostics); }
        CHECK(diagnostics.to_string() ==
              "f:1:18: /b/c: unknown key \"c\"; no keys are allowed here\n");
        Diagnostics others;
        {
            ObjectReader reader(*root.find("a"), others);
            CHECK(reader.required("x") == nullptr);
            CHECK_FALSE(reader.integer("y", {}));
            CHECK_FALSE(reader.finish());
        }
        CHECK(others.to_string() == "f:1:7: /a: must be an object; got an array\n");
    }

    TEST_CASE("ObjectReader: finish() also knows of errors inside") {
        const JsonNode root = parsed(R"({"a": {"b": 1}})");
        Diagnostics diagnostics;
        diagnostics.add_option("--seed", "an earlier error does not count");
        ObjectReader outer(root, diagnostics);
        {
            ObjectReader inner(*outer.object("a"), diagnostics);
            CHECK_FALSE(inner.boolean("b"));
        }
        CHECK_FALSE(outer.finish());
        ObjectReader again(root, diagnostics);
        again.ignore("a");
        CHECK(again.finish());
    }

    TEST_CASE("ObjectReader: a duplicate of an unknown key is not reported as unknown again") {
        Diagnostics diagnostics;
        const auto root = parse_json("f", R"({"a": 1, "a": 2})", diagnostics);
        REQUIRE(root);
        ObjectReader(*root, diagnostics).finish();
        CHECK(diagnostics.to_string() ==
              "f:1:2: /a: unknown key \"a\"; no keys are allowed here\n"
              "f:1:10: /a: duplicate key \"a\"; first given at line 1\n");
    }

    TEST_CASE("diagnostics: forms and order") {
        Diagnostics diagnostics;
        CHECK(diagnostics.empty());
        CHECK(diagnostics.to_string() == "");
        std::string error;
        CHECK_FALSE(parse_integer("abc", {1, 65536, "slots"}, error));
        diagnostics.add_option("--param slots", error);
        diagnostics.add({"b.json", {2, 1}, "/x", "second"});
        diagnostics.add({"a.json", {9, 9}, "", "third"});
        diagnostics.add({"b.json", {1, 10}, "/y", "first"});
        diagnostics.add({"b.json", {2, 1}, "/w", "same place, later"});
        diagnostics.add({"a.json", no_position, "", "cannot be\nread"});
        CHECK(diagnostics.size() == 6);
        CHECK(diagnostics.to_string() ==
              "command line: --param slots: must be a whole number from 1 to 65536 (slots); got "
              "\"abc\"\n"
              "b.json:1:10: /y: first\n"
              "b.json:2:1: /x: second\n"
              "b.json:2:1: /w: same place, later\n"
              "a.json: cannot be\\u000aread\n"
              "a.json:9:9: third\n");
        CHECK(diagnostics.all().at(1).message == "second");

        Diagnostics many; // enough for an unstable sort to show
        std::string in_order;
        for (int i = 0; i < 200; ++i) {
            const unsigned line = i < 100 ? 2 : 1;
            many.add({"f", {line, 1}, "", std::to_string(i)});
        }
        for (int i = 0; i < 200; ++i)
            in_order += (i < 100 ? "f:1:1: " : "f:2:1: ") + std::to_string((i + 100) % 200) + "\n";
        CHECK(many.to_string() == in_order);
    }

    TEST_CASE("long values are shortened in messages, between characters") {
        std::string text = "[\"";
        for (int i = 0; i < 40; ++i)
            text += "a\xC3\xA9";
        const JsonNode root = parsed(text + "\"]");
        std::string expected = "the string \"";
        for (int i = 0; i < 20; ++i)
            expected += "a\xC3\xA9";
        CHECK(root.children().at(0).describe() == expected + "...\"");
        CHECK(parsed("[\"" + std::string(59, 'b') + "\xC3\xA9\"]").children().at(0).describe() ==
              "the string \"" + std::string(59, 'b') + "...\"");
        CHECK(parsed("\"" + std::string(60, 'b') + "\"").describe() ==
              "the string \"" + std::string(60, 'b') + "\"");
    }

    TEST_CASE("did_you_mean") {
        const std::vector<std::string> knobs{"node_cache.limit", "node_cache.refill_batch",
                                             "node_cache.prefill", "node_cache.prefill_cap",
                                             "node_slab.kind"};
        CHECK(did_you_mean("node_cache.limt", knobs) == "node_cache.limit");
        CHECK(did_you_mean("node_cache.pre_fill", knobs) == "node_cache.prefill");
        CHECK(did_you_mean("node_cache.prefil", knobs) == "node_cache.prefill");
        CHECK(did_you_mean("NODE-CACHE.LIMIT", knobs) == "node_cache.limit");
        CHECK(did_you_mean("node-slab-kind", knobs) == "node_slab.kind");
        CHECK_FALSE(did_you_mean("frequency", knobs));
        CHECK_FALSE(did_you_mean("", knobs));

        using Names = std::vector<std::string_view>;
        // A swap of neighbours is one edit: "abdc" is then nearer to "abcd" than to nothing at all.
        CHECK(did_you_mean("abdc", Names{"abcd"}) == "abcd");
        CHECK_FALSE(did_you_mean("dcab", Names{"abcd"}));
        // At most max(1, length / 3): 5 letters allow one edit, 6 allow two.
        CHECK(did_you_mean("slots", Names{"slits"}) == "slits");
        CHECK_FALSE(did_you_mean("slots", Names{"slips"}));
        CHECK(did_you_mean("sslots", Names{"slits"}) == "slits");
        CHECK_FALSE(did_you_mean("sslots", Names{"slips"}));
        // Ties go to the first, nearer ones win over earlier ones.
        CHECK(did_you_mean("cat", Names{"car", "bat", "cut"}) == "car");
        CHECK(did_you_mean("cat", Names{"bat", "car"}) == "bat");
        CHECK(did_you_mean("catalog", Names{"catatog", "Catalog", "catalog"}) == "Catalog");
        // One letter has nothing in common with another.
        CHECK_FALSE(did_you_mean("x", Names{"y"}));
        CHECK(did_you_mean("x", Names{"X"}) == "X");
        CHECK(did_you_mean("x", Names{"xs"}) == "xs");
        CHECK_FALSE(did_you_mean(std::string(1'000'000, 'x'), Names{"x", "y"}));
        CHECK_FALSE(did_you_mean("x", Names{}));
    }

} // TEST_SUITE
