#include "analysis/schema/schema.h"

#include "analysis/schema/skeleton.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace uringsim::analysis {

using scenarios::JsonNode;
using scenarios::KeyShape;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* statement_reference = "#/$defs/statement";

/// What a value of one type may be.
Json type_schema(const KeyShape& shape, std::string_view type) {
    if (type == "string" && !shape.choices.empty()) {
        return {{"enum", shape.choices}};
    }
    Json schema = {{"type", type}};
    if (type == "integer" || type == "number") {
        if (shape.min) {
            schema[shape.min_excluded ? "exclusiveMinimum" : "minimum"] = Json::parse(*shape.min);
        }
        if (shape.max) {
            schema["maximum"] = Json::parse(*shape.max);
        }
    }
    if (type == "array" && shape.min_items > 0) {
        schema["minItems"] = shape.min_items;
    }
    return schema;
}

void describe(Json& schema, const KeyShape& shape) {
    const std::string unit = shape.unit.empty() ? "" : fmt::format("({})", shape.unit);
    const char* between = shape.help.empty() || unit.empty() ? "" : " ";
    if (!shape.help.empty() || !unit.empty()) {
        schema["description"] = shape.help + between + unit;
    }
}

Json value_schema(const KeyShape& shape) {
    Json either = Json::array();
    for (const std::string_view type : shape.types) {
        either.push_back(type_schema(shape, type));
    }
    if (shape.parameter) {
        either.push_back({{"type", "string"}, {"pattern", "^\\$"}});
    }
    Json schema = either.size() > 1 ? Json{{"anyOf", either}}
                  : either.empty()  ? Json::object()
                                    : either.front();
    describe(schema, shape);
    if (shape.fallback) {
        schema["default"] = Json::parse(*shape.fallback);
    }
    return schema;
}

/// Makes the schema of a skeleton's objects from what was asked of them.
class SchemaMaker {
  public:
    explicit SchemaMaker(const Skeleton& skeleton)
        : skeleton_(skeleton) {}

    /// Objects of one kind, as variants that may each have been asked for other keys.
    Json object_schema(const std::vector<const JsonNode*>& variants) const {
        std::vector<const RecordedKeys*> asked;
        for (const JsonNode* node : variants) {
            if (const RecordedKeys* keys = skeleton_.shapes.keys_of(*node)) {
                asked.push_back(keys);
            }
        }
        Json properties = Json::object();
        Json required = Json::array();
        for (const RecordedKey& key : merged(asked)) {
            properties[key.name] = member_schema(variants, key);
            if (key.shape.required) {
                required.push_back(key.name);
            }
        }
        Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
        if (!required.empty()) {
            schema["required"] = std::move(required);
        }
        schema["additionalProperties"] = false;
        return schema;
    }

    /// One schema an operation and one a kind of block.
    Json statement_schema(const JsonNode& program) const {
        std::vector<std::pair<std::string, std::vector<const JsonNode*>>> kinds;
        for (const JsonNode& node : program.children()) {
            const JsonNode* op = node.find("op");
            const std::string kind = op != nullptr ? op->text() : node.children().front().key();
            const auto found =
                std::ranges::find(kinds, kind, [](const auto& k) { return k.first; });
            if (found != kinds.end()) {
                found->second.push_back(&node);
            } else {
                kinds.push_back({kind, {&node}});
            }
        }
        Json either = Json::array();
        for (const auto& [kind, variants] : kinds) {
            Json schema = object_schema(variants);
            if (variants.front()->find("op") != nullptr) {
                schema["properties"]["op"] = {{"const", kind}};
            }
            either.push_back(std::move(schema));
        }
        return {{"anyOf", std::move(either)}};
    }

  private:
    Json member_schema(const std::vector<const JsonNode*>& variants, const RecordedKey& key) const {
        if (key.name == "program" || key.name == "do") {
            return {{"type", "array"},
                    {"minItems", key.shape.min_items},
                    {"items", {{"$ref", statement_reference}}}};
        }
        const JsonNode* child = nullptr;
        for (const JsonNode* node : variants) {
            child = child != nullptr ? child : node->find(key.name);
        }
        if (child != nullptr && child->is_object()) {
            Json schema = nested_schema(*child);
            describe(schema, key.shape);
            return schema;
        }
        Json schema = value_schema(key.shape);
        if (child != nullptr && child->is_array() && is_asked(child->children())) {
            schema["items"] = object_schema(pointers(child->children()));
        }
        return schema;
    }

    /// An object inside: of known keys, or of names that the file chooses.
    Json nested_schema(const JsonNode& object) const {
        if (skeleton_.shapes.keys_of(object) != nullptr) {
            return object_schema({&object});
        }
        Json schema = {{"type", "object"}};
        Json either = Json::array();
        for (const JsonNode& child : object.children()) {
            either.push_back(object_schema({&child}));
        }
        if (object.key() == "parameters" && !either.empty()) {
            either.push_back({{"type", "integer"}, {"minimum", 0}});
        }
        if (!either.empty()) {
            schema["additionalProperties"] = {{"anyOf", std::move(either)}};
        }
        return schema;
    }

    bool is_asked(const std::vector<JsonNode>& nodes) const {
        return !nodes.empty() && skeleton_.shapes.keys_of(nodes.front()) != nullptr;
    }

    static std::vector<const JsonNode*> pointers(const std::vector<JsonNode>& nodes) {
        std::vector<const JsonNode*> all;
        for (const JsonNode& node : nodes) {
            all.push_back(&node);
        }
        return all;
    }

    const Skeleton& skeleton_;
};

const JsonNode& program_of(const Skeleton& skeleton) {
    return *skeleton.root.find("tasks")->children().front().find("program");
}

std::string type_text(const KeyShape& shape, std::string_view type) {
    if (type == "string" && !shape.choices.empty()) {
        constexpr std::size_t few = 8;
        if (shape.choices.size() <= few) {
            return fmt::format("\"{}\"", fmt::join(shape.choices, "\", \""));
        }
        const bool errnos = shape.choices.back().starts_with("-E");
        return fmt::format("\"{}\", \"{}\" or {} such as \"{}\"", shape.choices[0],
                           shape.choices[1],
                           errnos ? "an errno"
                                  : fmt::format("another of {} names", shape.choices.size()),
                           shape.choices.back());
    }
    if (type == "integer" || type == "number") {
        const std::string kind = type == "integer" ? "a whole number" : "a number";
        return shape.min && shape.max
                   ? fmt::format("{} from {} to {}", kind, *shape.min, *shape.max)
                   : kind;
    }
    if (type == "boolean") {
        return "true or false";
    }
    return type == "null" ? "null" : fmt::format("a{} {}", type == "string" ? "" : "n", type);
}

} // namespace

std::string json_schema(FileKind kind) {
    const Skeleton skeleton(kind);
    const SchemaMaker maker(skeleton);
    Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", fmt::format("uringsim: {}", kind_name(kind))}};
    schema.update(maker.object_schema({&skeleton.root}));
    if (kind == FileKind::scenario) {
        schema["$defs"] = {{"statement", maker.statement_schema(program_of(skeleton))}};
    }
    constexpr int indent = 2;
    return schema.dump(indent) + '\n';
}

std::optional<RecordedKeys> operation_keys(std::string_view name) {
    const Skeleton skeleton(FileKind::scenario);
    std::vector<const RecordedKeys*> variants;
    for (const JsonNode& node : program_of(skeleton).children()) {
        const JsonNode* op = node.find("op");
        if (op != nullptr && op->text() == name) {
            variants.push_back(skeleton.shapes.keys_of(node));
        }
    }
    if (variants.empty()) {
        return std::nullopt;
    }
    return merged(variants);
}

std::string shape_text(const KeyShape& shape) {
    std::vector<std::string> either;
    for (const std::string_view type : shape.types) {
        either.push_back(type_text(shape, type));
    }
    std::string text = fmt::format("{}", fmt::join(either, ", or "));
    if (!shape.unit.empty()) {
        text += fmt::format(" ({})", shape.unit);
    }
    if (shape.parameter) {
        text += ", or a parameter";
    }
    if (shape.required) {
        text += "; required";
    } else if (shape.fallback) {
        text += fmt::format("; default {}", *shape.fallback);
    }
    return text;
}

} // namespace uringsim::analysis
