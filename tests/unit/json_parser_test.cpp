#include "scenarios/strict_json.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsed_json.h"

using namespace uringsim::scenarios;
using uringsim::tests::parsed;

namespace {

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

} // namespace

namespace doctest {
template <>
struct StringMaker<Position> {
    static String convert(const Position& at) {
        return (std::to_string(at.line) + ":" + std::to_string(at.column)).c_str();
    }
};
} // namespace doctest

TEST_SUITE("json parser") {

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

} // TEST_SUITE
