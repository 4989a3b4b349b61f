#include "scenarios/strict_json.h"

#include <doctest/doctest.h>

#include <array>
#include <clocale>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace uringsim::scenarios;

namespace {

JsonNode parsed(std::string_view text) {
    Diagnostics diagnostics;
    std::optional<JsonNode> root = parse_json("f", text, diagnostics);
    REQUIRE_MESSAGE(root, diagnostics.to_string());
    REQUIRE(diagnostics.to_string() == "");
    return *std::move(root);
}

/// The errors of a text that yields no tree, without the last newline.
std::string refusal(std::string_view text) {
    Diagnostics diagnostics;
    CHECK_FALSE(parse_json("f", text, diagnostics));
    std::string errors = diagnostics.to_string();
    REQUIRE_FALSE(errors.empty());
    errors.pop_back();
    return errors;
}

/// The errors of a text that yields a tree all the same.
std::string complaints(std::string_view text) {
    Diagnostics diagnostics;
    CHECK(parse_json("f", text, diagnostics));
    return diagnostics.to_string();
}

void collect(const JsonNode& node, std::map<std::string, Position>& values,
             std::map<std::string, Position>& keys) {
    values[node.pointer()] = node.position();
    keys[node.pointer()] = node.key_position();
    for (const JsonNode& child : node.children())
        collect(child, values, keys);
}

struct Places {
    std::map<std::string, Position> values;
    std::map<std::string, Position> keys;
};

Places places(std::string_view text) {
    Places result;
    const JsonNode root = parsed(text);
    collect(root, result.values, result.keys);
    return result;
}

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

namespace doctest {
template <>
struct StringMaker<Position> {
    static String convert(const Position& at) {
        return (std::to_string(at.line) + ":" + std::to_string(at.column)).c_str();
    }
};
} // namespace doctest

TEST_SUITE("strict_json") {

    TEST_CASE("values keep their type, order and exact text") {
        const JsonNode root = parsed(R"({"z": null, "a": true, "b": false, "s": "x\u00e9\n\"\u0000",
        "n": [0, -0, 3.9, 1e3, -1, 300, 18446744073709551615, 18446744073709551616, 1.50E-2],
        "e": {}, "v": []})");
        REQUIRE(root.is_object());
        std::string order;
        for (const JsonNode& member : root.children())
            order += member.key();
        CHECK(order == "zabsnev");
        CHECK(root.find("z")->is_null());
        CHECK(root.find("a")->boolean());
        CHECK_FALSE(root.find("b")->boolean());
        CHECK(root.find("b")->is_boolean());
        CHECK(root.find("s")->text() == std::string_view("x\xC3\xA9\n\"\0", 6));
        std::vector<std::string> numbers;
        for (const JsonNode& number : root.find("n")->children()) {
            CHECK(number.is_number());
            numbers.push_back(number.text());
        }
        const std::vector<std::string> expected{"0",
                                                "-0",
                                                "3.9",
                                                "1e3",
                                                "-1",
                                                "300",
                                                "18446744073709551615",
                                                "18446744073709551616",
                                                "1.50E-2"};
        CHECK(numbers == expected);
        CHECK(root.find("e")->is_object());
        CHECK(root.find("v")->is_array());
        CHECK(root.find("nothing") == nullptr);
        CHECK(root.find("n")->find("z") == nullptr);
        CHECK(root.file() == "f");
    }

    TEST_CASE("a document may be any value, with white space around it") {
        CHECK(parsed(" \t\r\n 42 \n").text() == "42");
        CHECK(parsed(" \t\r\n 42 \n").position() == Position{2, 2});
        CHECK(parsed("7").position() == Position{1, 1});
        CHECK(parsed("\"\"").text() == "");
        CHECK(parsed("null").is_null());
    }

    TEST_CASE("positions are those of the first character of values and keys") {
        SUBCASE("at the start and end of lines, nested") {
            const Places p = places("{\n\"a\":\n1\n,\n  \"b\" : [\n    2,3\n,\n{ \"c\": {\"d\"\n:\n"
                                    "true} } ], \"e\": null\n}\n");
            CHECK(p.values.at("") == Position{1, 1});
            CHECK(p.keys.at("/a") == Position{2, 1});
            CHECK(p.values.at("/a") == Position{3, 1});
            CHECK(p.keys.at("/b") == Position{5, 3});
            CHECK(p.values.at("/b") == Position{5, 9});
            CHECK(p.values.at("/b/0") == Position{6, 5});
            CHECK(p.values.at("/b/1") == Position{6, 7});
            CHECK(p.values.at("/b/2") == Position{8, 1});
            CHECK(p.keys.at("/b/2/c") == Position{8, 3});
            CHECK(p.values.at("/b/2/c") == Position{8, 8});
            CHECK(p.keys.at("/b/2/c/d") == Position{8, 9});
            CHECK(p.values.at("/b/2/c/d") == Position{10, 1});
            CHECK(p.keys.at("/e") == Position{10, 12});
            CHECK(p.values.at("/e") == Position{10, 17});
        }
        SUBCASE("after numbers, whose end the lexer sees one character late") {
            const Places p = places("[1,22 ,3.5\n,-4e2,\n5\t,[6],7]");
            CHECK(p.values.at("/0") == Position{1, 2});
            CHECK(p.values.at("/1") == Position{1, 4});
            CHECK(p.values.at("/2") == Position{1, 8});
            CHECK(p.values.at("/3") == Position{2, 2});
            CHECK(p.values.at("/4") == Position{3, 1});
            CHECK(p.values.at("/5") == Position{3, 4});
            CHECK(p.values.at("/5/0") == Position{3, 5});
            CHECK(p.values.at("/6") == Position{3, 8});
        }
        SUBCASE("after characters of several bytes: columns are bytes") {
            const Places p = places("[\"\xC3\xA9\", 1, \"\xF0\x9F\x98\x80\", 2]");
            CHECK(p.values.at("/1") == Position{1, 8});
            CHECK(p.values.at("/2") == Position{1, 11});
            CHECK(p.values.at("/3") == Position{1, 19});
        }
        SUBCASE("after escapes, and strings that hold structural characters") {
            const Places p = places(R"({"a\"b\\": "\u00e9\n\\", "c,:/": "//x", "d": 1})");
            CHECK(p.keys.at("/a\"b\\") == Position{1, 2});
            CHECK(p.values.at("/a\"b\\") == Position{1, 12});
            CHECK(p.keys.at("/c,:~1") == Position{1, 26});
            CHECK(p.values.at("/c,:~1") == Position{1, 34});
            CHECK(p.keys.at("/d") == Position{1, 41});
            CHECK(p.values.at("/d") == Position{1, 46});
        }
        SUBCASE("lines that end in CR LF") {
            const Places p = places("[\r\n1,\r\n  2\r\n]\r\n");
            CHECK(p.values.at("/0") == Position{2, 1});
            CHECK(p.values.at("/1") == Position{3, 3});
        }
        SUBCASE("an element and the root have no key: its position is their own") {
            const Places p = places("[ 1]");
            CHECK(p.keys.at("") == Position{1, 1});
            CHECK(p.keys.at("/0") == Position{1, 3});
        }
    }

    TEST_CASE("pointers are escaped as RFC 6901 says") {
        const Places p = places(R"({"a/b": {"m~n": [0, {"": 1}]}, "~1": 2})");
        CHECK(p.values.contains("/a~1b/m~0n/0"));
        CHECK(p.values.contains("/a~1b/m~0n/1/"));
        CHECK(p.values.contains("/~01"));
    }

    TEST_CASE("malformed texts: the exact diagnostic") {
        struct Case {
            std::string_view text;
            std::string_view errors;
        };
        const std::vector<Case> cases{
            // Nothing there, or too much.
            {"", "f:1:1: the file is empty; a JSON value is expected"},
            {" \n\t\n", "f:3:1: the file is empty; a JSON value is expected"},
            {"{} {}",
             "f:1:4: unexpected '{' after the end of the JSON value; a file holds one value"},
            {"{}\n}",
             "f:2:1: unexpected '}' after the end of the JSON value; a file holds one value"},
            {"1 2",
             "f:1:3: unexpected number \"2\" after the end of the JSON value; a file holds one "
             "value"},
            {"[1],",
             "f:1:4: unexpected ',' after the end of the JSON value; a file holds one value"},
            // Ends too early.
            {"{",
             "f:1:2: unexpected end of file; expected a key in double quotes or '}' (the object "
             "opens at line 1)"},
            {"{\n  \"a\": [1, 2\n",
             "f:3:1: /a: unexpected end of file; expected ',' or ']' (the array "
             "opens at line 2)"},
            {"{\"a\"",
             "f:1:5: /a: unexpected end of file; expected ':' after the key \"a\" (the object "
             "opens at line 1)"},
            {"{\"a\":",
             "f:1:6: /a: unexpected end of file; expected a value (the object opens at line "
             "1)"},
            {"[1,",
             "f:1:4: /1: unexpected end of file; expected a value (the array opens at line 1)"},
            {"[1, 2",
             "f:1:6: unexpected end of file; expected ',' or ']' (the array opens at line 1)"},
            // Commas and colons.
            {"[1, 2,]", "f:1:6: ',' before ']'; JSON has no trailing commas: remove it"},
            {"{\"a\": 1,\n}", "f:1:8: ',' before '}'; JSON has no trailing commas: remove it"},
            {"{\"o\": {\"a\": 1,\n\n}}", "f:1:14: /o: ',' before '}'; JSON has no trailing commas: "
                                         "remove it"},
            {"[1,,2]", "f:1:4: /1: unexpected ','; expected a value"},
            {"[,1]", "f:1:2: /0: unexpected ','; expected a value or ']'"},
            {"[1 2]", "f:1:4: unexpected number \"2\"; expected ',' or ']'"},
            {"{\"a\": 1\n \"b\": 2}", "f:2:2: unexpected string; expected ',' or '}'"},
            {"{\"a\" 1}", "f:1:6: /a: unexpected number \"1\"; expected ':' after the key \"a\""},
            {"{\"a\"::1}", "f:1:6: /a: unexpected ':'; expected a value"},
            {"{\"a\": }", "f:1:7: /a: unexpected '}'; expected a value"},
            {"{,}", "f:1:2: unexpected ','; expected a key in double quotes or '}'"},
            {"{\"a\": 1, , \"b\": 2}", "f:1:10: unexpected ','; expected a key in double quotes"},
            {"[1}", "f:1:3: unexpected '}'; expected ',' or ']'"},
            {"{\"a\": [1, 2}", "f:1:12: /a: unexpected '}'; expected ',' or ']'"},
            {"}", "f:1:1: unexpected '}'; expected a value"},
            // Keys.
            {"{1: 2}", "f:1:2: unexpected number \"1\"; expected a key in double quotes or '}'"},
            {"{slots: 2}",
             "f:1:2: unexpected word \"slots\"; expected a key in double quotes or '}'"},
            {"{'slots': 2}",
             "f:1:2: unexpected '''; expected a key in double quotes or '}'; strings "
             "are put in plain double quotes"},
            {"{\"a\": 1, true: 2}",
             "f:1:10: unexpected word \"true\"; expected a key in double quotes"},
            // Words.
            {"[True]", "f:1:2: /0: unexpected word \"True\"; expected a value or ']'; did you mean "
                       "\"true\"?"},
            {"{\"a\": fasle}",
             "f:1:7: /a: unexpected word \"fasle\"; expected a value; did you mean "
             "\"false\"?"},
            {"{\"a\": NaN}", "f:1:7: /a: unexpected word \"NaN\"; expected a value"},
            {"[1, tru]",
             "f:1:5: /1: unexpected word \"tru\"; expected a value; did you mean \"true\"?"},
            {"nul", "f:1:1: unexpected word \"nul\"; expected a value; did you mean \"null\"?"},
            {"[\xE2\x80\x9C"
             "a\xE2\x80\x9D]",
             "f:1:2: /0: unexpected character '\xE2\x80\x9C'; expected "
             "a value or ']'; strings are put in plain double quotes"},
            {"[\xFF]", "f:1:2: /0: unexpected byte 0xFF; expected a value or ']'"},
            {"[\v1]", "f:1:2: /0: unexpected byte 0x0B; expected a value or ']'"},
            // Numbers.
            {"[01]",
             "f:1:2: /0: malformed number \"01\"; write it as in 10, -2.5 or 1e3: decimal, no "
             "leading zero, '+' or '.'"},
            {"{\"a\": 0x10}",
             "f:1:7: /a: malformed number \"0x10\"; write it as in 10, -2.5 or 1e3: "
             "decimal, no leading zero, '+' or '.'"},
            {"[1, +5]",
             "f:1:5: /1: malformed number \"+5\"; write it as in 10, -2.5 or 1e3: decimal, "
             "no leading zero, '+' or '.'"},
            {"[.5]",
             "f:1:2: /0: malformed number \".5\"; write it as in 10, -2.5 or 1e3: decimal, no "
             "leading zero, '+' or '.'"},
            {"[5.]",
             "f:1:2: /0: malformed number \"5.\"; write it as in 10, -2.5 or 1e3: decimal, no "
             "leading zero, '+' or '.'"},
            {"[1.2.3]", "f:1:2: /0: malformed number \"1.2.3\"; write it as in 10, -2.5 or 1e3: "
                        "decimal, no leading zero, '+' or '.'"},
            {"[0, 1e]",
             "f:1:5: /1: malformed number \"1e\"; write it as in 10, -2.5 or 1e3: decimal, "
             "no leading zero, '+' or '.'"},
            {"[-]",
             "f:1:2: /0: malformed number \"-\"; write it as in 10, -2.5 or 1e3: decimal, no "
             "leading zero, '+' or '.'"},
            {"[1-]",
             "f:1:2: /0: malformed number \"1-\"; write it as in 10, -2.5 or 1e3: decimal, no "
             "leading zero, '+' or '.'"},
            {"[65_536]", "f:1:2: /0: malformed number \"65_536\"; write it as in 10, -2.5 or 1e3: "
                         "decimal, no leading zero, '+' or '.'"},
            {"-Infinity", "f:1:1: malformed number \"-Infinity\"; write it as in 10, -2.5 or 1e3: "
                          "decimal, no leading zero, '+' or '.'"},
            {"00",
             "f:1:1: malformed number \"00\"; write it as in 10, -2.5 or 1e3: decimal, no leading "
             "zero, '+' or '.'"},
            {"{\"a\": [7, 1e400]}",
             "f:1:11: /a/1: the number 1e400 is beyond the range of a double; at "
             "most about 1.8e308"},
            // Strings.
            {"[\"abc", "f:1:2: /0: the string is not closed; it needs a '\"' at its end"},
            {"{\"a\": \"abc\n}",
             "f:1:7: /a: the string is not closed on its line; a line break in a "
             "string is written \\n"},
            {"{\"abc: 1,\r\n\"b\": 2}",
             "f:1:2: the string is not closed on its line; a line break in a "
             "string is written \\n"},
            {"[\"a\tb\"]",
             "f:1:4: /0: control character U+0009 (HT) must be escaped to \\u0009 or \\t in "
             "a string"},
            {"[\"a\\qb\"]",
             "f:1:4: /0: unknown escape '\\q' in a string; allowed: \\\" \\\\ \\/ \\b \\f "
             "\\n \\r \\t \\uXXXX"},
            {"[\"\\\xC3\xA9\"]",
             "f:1:3: /0: unknown escape '\\\xC3\xA9' in a string; allowed: \\\" \\\\ \\/ \\b \\f "
             "\\n \\r \\t \\uXXXX"},
            {"[\"\\\xC3\"]",
             "f:1:3: /0: unknown escape '\\' in a string; allowed: \\\" \\\\ \\/ \\b \\f "
             "\\n \\r \\t \\uXXXX"},
            {"[\\", "f:1:2: /0: unexpected '\\'; expected a value or ']'"},
            {"[\"ab\\u12g4\"]",
             "f:1:5: /0: \\u in a string must be followed by 4 hexadecimal digits"},
            {"[\"ab\\u12\"]",
             "f:1:5: /0: \\u in a string must be followed by 4 hexadecimal digits"},
            {"[\"x\\uD800y\"]",
             "f:1:4: /0: unpaired surrogate in a string; \\uD800..\\uDBFF must be "
             "followed by \\uDC00..\\uDFFF"},
            {"[\"x\\uD800\\n\"]",
             "f:1:4: /0: unpaired surrogate in a string; \\uD800..\\uDBFF must be "
             "followed by \\uDC00..\\uDFFF"},
            {"[\"x\\uD800\\u0041\"]",
             "f:1:4: /0: unpaired surrogate in a string; \\uD800..\\uDBFF must "
             "be followed by \\uDC00..\\uDFFF"},
            {"[\"xy\\uDC00\"]",
             "f:1:5: /0: unpaired surrogate in a string; \\uD800..\\uDBFF must be "
             "followed by \\uDC00..\\uDFFF"},
            // Invalid UTF-8: a stray byte, a sequence cut short by a quote, by the end; a
            // surrogate.
            {"[\"ab\xFF\"]",
             "f:1:5: /0: invalid UTF-8 in a string (byte 0xFF); the file must be UTF-8"},
            {"[\"\xC3\xA9\xFF\"]",
             "f:1:5: /0: invalid UTF-8 in a string (byte 0xFF); the file must be UTF-8"},
            {"[\"a\x80\"]",
             "f:1:4: /0: invalid UTF-8 in a string (byte 0x80); the file must be UTF-8"},
            {"[\"\xC3\xA9\xC3\"]",
             "f:1:5: /0: invalid UTF-8 in a string (byte 0xC3); the file must be "
             "UTF-8"},
            {"[\"\xF0\x9F\x98\"]",
             "f:1:3: /0: invalid UTF-8 in a string (byte 0xF0); the file must be "
             "UTF-8"},
            {"[\"\xED\xA0\x80\"]",
             "f:1:3: /0: invalid UTF-8 in a string (byte 0xED); the file must be "
             "UTF-8"},
            {"{\"\xE9t\xE9\": 1}",
             "f:1:3: invalid UTF-8 in a string (byte 0xE9); the file must be UTF-8"},
            {"[\"\xC3", "f:1:2: /0: the string is not closed; it needs a '\"' at its end"},
            // Comments that are not even comments.
            {"[1, /* x", "f:1:5: comment that is not closed; JSON has no comments"},
            {"[1] /", "f:1:5: unexpected '/'; JSON has no comments either"},
            {"[1, # x\n2]", "f:1:5: /1: unexpected '#'; expected a value; JSON has no comments"},
            // Encodings.
            {"\xFF\xFE[\0]\0", "f:1:1: the file is UTF-16; save it as UTF-8"},
            {std::string_view("[1,\n2\0]", 7),
             "f:2:2: NUL byte; the file must be UTF-8 text (is it "
             "binary, or UTF-16?)"},
            {std::string_view("{}\0{", 4),
             "f:1:3: NUL byte; the file must be UTF-8 text (is it binary, "
             "or UTF-16?)"},
            {std::string_view("{}\n\0", 4),
             "f:2:1: NUL byte; the file must be UTF-8 text (is it binary, "
             "or UTF-16?)"},
        };
        for (const Case& c : cases) {
            CAPTURE(c.text);
            CHECK(refusal(c.text) == c.errors);
        }
    }

    TEST_CASE("duplicate keys: all of them, at the second, naming the line of the first") {
        CHECK(
            complaints("{\"a\": 1,\n \"b\": {\"a\": 2, \"a\": 3},\n \"a\": 4,\n\"\\u0061\": 5}") ==
            "f:2:16: /b/a: duplicate key \"a\"; first given at line 2\n"
            "f:3:2: /a: duplicate key \"a\"; first given at line 1\n"
            "f:4:1: /a: duplicate key \"a\"; first given at line 1\n");
        CHECK(complaints(R"([{"a": 1}, {"a": 2}])") == "");
        CHECK(complaints(R"({"a/b\n": 1, "a/b\n": 2})") ==
              "f:1:14: /a~1b\\u000a: duplicate key \"a/b\\n\"; first given at line 1\n");
    }

    TEST_CASE("comments: all of them, and positions behind them stay right") {
        constexpr std::string_view text = "// head\n{ /* a */ \"a\" /**/: 1, // one\n"
                                          "  \"b\": [ /* 1,\n2 */ 3 /***/ ] }\n/* tail */ // end";
        Diagnostics diagnostics;
        const auto root = parse_json("f", text, diagnostics);
        REQUIRE(root);
        CHECK(diagnostics.to_string() ==
              "f:1:1: comment \"// head\"; JSON has no comments: remove it\n"
              "f:2:3: comment \"/* a */\"; JSON has no comments: remove it\n"
              "f:2:15: comment \"/**/\"; JSON has no comments: remove it\n"
              "f:2:24: comment \"// one\"; JSON has no comments: remove it\n"
              "f:3:10: /b: comment \"/* 1,\\n2 */\"; JSON has no comments: remove it\n"
              "f:4:8: /b: comment \"/***/\"; JSON has no comments: remove it\n"
              "f:5:1: comment \"/* tail */\"; JSON has no comments: remove it\n"
              "f:5:12: comment \"// end\"; JSON has no comments: remove it\n");
        CHECK(root->find("a")->position() == Position{2, 21});
        CHECK(root->find("b")->children().at(0).position() == Position{4, 6});
        // Those before a syntax error too.
        CHECK(refusal("[1, // x\n /* y */ 2,]") ==
              "f:1:5: comment \"// x\"; JSON has no comments: remove it\n"
              "f:2:2: comment \"/* y */\"; JSON has no comments: remove it\n"
              "f:2:11: ',' before ']'; JSON has no trailing commas: remove it");
        CHECK(refusal("// only\n") ==
              "f:1:1: comment \"// only\"; JSON has no comments: remove it\n"
              "f:2:1: the file is empty; a JSON value is expected");
        CHECK(refusal("[1 // x") ==
              "f:1:4: comment \"// x\"; JSON has no comments: remove it\n"
              "f:1:8: unexpected end of file; expected ',' or ']' (the array opens at line 1)");
        CHECK(complaints("[1]//\r") == "f:1:4: comment \"//\"; JSON has no comments: remove it\n");
    }

    TEST_CASE("a byte order mark is refused, and the rest still read") {
        CHECK(complaints("\xEF\xBB\xBF{\"a\": 1, \"a\": 2}") ==
              "f:1:1: the file starts with a byte order mark; save it as UTF-8 without one\n"
              "f:1:10: /a: duplicate key \"a\"; first given at line 1\n");
        CHECK(refusal("\xEF\xBB\xBF") ==
              "f:1:1: the file starts with a byte order mark; save it as UTF-8 without one\n"
              "f:1:1: the file is empty; a JSON value is expected");
        Diagnostics diagnostics;
        const auto root = parse_json("f", "\xEF\xBB\xBF\xEF\xBB\xBF[1]", diagnostics);
        REQUIRE(root);
        CHECK(root->children().at(0).position() == Position{1, 2});
        CHECK(refusal("\xEF\xBB[1]") == "f:1:1: unexpected byte 0xEF; expected a value");
    }

    TEST_CASE("nesting: 64 levels and no more, however deep the file") {
        CHECK(parsed(std::string(64, '[') + std::string(64, ']')).is_array());
        CHECK(refusal(std::string(65, '[') + std::string(65, ']')) ==
              "f:1:65: arrays and objects nested too deep; at most 64 levels are allowed");
        CHECK(refusal(std::string(1'000'000, '[')) ==
              "f:1:65: arrays and objects nested too deep; at most 64 levels are allowed");
        std::string objects;
        for (int i = 0; i < 1000; ++i)
            objects += "{\"a\":\n";
        CHECK(refusal(objects) ==
              "f:65:1: arrays and objects nested too deep; at most 64 levels are allowed");
        // The limit is on depth, not on count.
        std::string wide = "[";
        for (int i = 0; i < 1000; ++i)
            wide += "[],";
        CHECK(parsed(wide + "1]").children().size() == 1001);
    }

    TEST_CASE("every prefix and every one-byte change of a text is read without harm") {
        constexpr std::string_view text = "{ \"a\\u00e9\": [1, -2.5e3, \"\xC3\xA9\", true] , // c\n"
                                          " \"b\": {\"c\": null} }";
        const auto check = [](std::string_view changed) {
            Diagnostics diagnostics;
            // A buffer of just that size, so that the address sanitizer sees a byte read too many.
            const std::vector<char> exact(changed.begin(), changed.end());
            const auto root =
                parse_json("f", std::string_view(exact.data(), exact.size()), diagnostics);

            CHECK((root.has_value() || !diagnostics.empty()));
            for (const Diagnostic& diagnostic : diagnostics.all()) {
                CHECK(diagnostic.at.line >= 1);
                CHECK(diagnostic.at.line <= 3);
                CHECK(diagnostic.at.column >= 1);
                CHECK(diagnostic.at.column <= changed.size() + 1);
            }
        };
        for (std::size_t length = 0; length < text.size(); ++length)
            check(std::string(text.substr(0, length)));
        for (std::size_t i = 0; i < text.size(); ++i) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string changed(text);
                changed[i] = static_cast<char>(byte);
                check(changed);
            }
        }
    }

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
