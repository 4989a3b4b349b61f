#pragma once

#include "scenarios/key_shape.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// A key and all that readers said of it.
struct RecordedKey {
    std::string name;
    scenarios::KeyShape shape;
};

/// The keys of one kind of object, in the order in which they were first asked for.
using RecordedKeys = std::vector<RecordedKey>;

/// Adds what `shape` says more.
void add_shape(RecordedKeys& keys, std::string_view key, const scenarios::KeyShape& shape);

/// The keys of objects that are read in variants: required is what all of them require.
RecordedKeys merged(const std::vector<const RecordedKeys*>& variants);

/// Writes down what readers ask for, object by object.
class ShapeRecorder final : public scenarios::KeyObserver {
  public:
    void asked(const scenarios::JsonNode& object, std::string_view key,
               const scenarios::KeyShape& shape) override;

    /// nullptr where no reader asked for anything of it.
    const RecordedKeys* keys_of(const scenarios::JsonNode& object) const;

  private:
    std::map<const scenarios::JsonNode*, RecordedKeys> objects_; // only looked up, never walked
};

} // namespace uringsim::analysis
