#include "analysis/export/document.h"
#include "analysis/export/exporter.h"

namespace uringsim::analysis {

namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t hanging_indent = 6;

std::string indented(const std::string& text) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        result += line.empty() ? "\n" : std::string(indent, ' ') + line + '\n';
        at = end + 1;
    }
    return result;
}

std::string section_text(const Section& section) {
    std::string text = wrapped(section.title, indent) + '\n';
    if (section.table) {
        text += indented(section.table->to_text(text_columns - indent));
    }
    for (const std::string& line : section.lines) {
        text += wrapped(std::string(indent, ' ') + line, hanging_indent) + '\n';
    }
    return text;
}

class TextExporter final : public Exporter {
  public:
    std::string to_string(const Run& run) const override { return to_text(describe(run)); }
    std::string to_string(const Comparison& comparison) const override {
        return to_text(describe(comparison));
    }
    std::string to_string(const Validation& validation) const override {
        return to_text(describe(validation));
    }
    std::string to_string(const Sensitivity& sensitivity) const override {
        return to_text(describe(sensitivity));
    }
};

} // namespace

std::string to_text(const Document& document) {
    std::string text = wrapped(document.title, indent) + '\n';
    for (const std::string& fact : document.facts) {
        text += wrapped(fact, indent) + '\n';
    }
    for (const Section& section : document.sections) {
        text += '\n' + section_text(section);
    }
    return text;
}

std::unique_ptr<Exporter> make_text_exporter() {
    return std::make_unique<TextExporter>();
}

} // namespace uringsim::analysis
