#pragma once

#include "analysis/library.h"
#include "analysis/schema/shape_recorder.h"

#include <optional>
#include <string>
#include <string_view>

namespace uringsim::analysis {

/// The JSON Schema (2020-12) of a kind of file, for editors and for other programs. Made by reading
/// a skeleton of such a file and writing down what the readers ask for, so that it says what they
/// take. What a schema cannot say (a ring has to be declared, a parameter in range) only `check`
/// does.
std::string json_schema(FileKind kind);

/// The keys of an operation of scenarios; nothing where there is no such operation.
std::optional<RecordedKeys> operation_keys(std::string_view name);

/// "a whole number from 1 to 32768 (requests), or a parameter; default 1", for people.
std::string shape_text(const scenarios::KeyShape& shape);

} // namespace uringsim::analysis
