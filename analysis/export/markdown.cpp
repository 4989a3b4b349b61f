#include "analysis/export/document.h"
#include "analysis/export/exporter.h"

namespace uringsim::analysis {

namespace {

/// Text outside tables: what Markdown would take for markup is escaped.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '*' || c == '_' || c == '`' || c == '<' || c == '[' || c == '\\' || c == '#') {
            result += '\\';
        }
        result += c == no_break ? ' ' : c;
    }
    return result;
}

std::string section_markdown(const Section& section) {
    std::string text = "\n## " + escaped(section.title) + "\n\n";
    if (section.table) {
        text += section.table->to_markdown();
    }
    for (const std::string& line : section.lines) {
        text += "- " + escaped(line) + '\n';
    }
    return text;
}

class MarkdownExporter final : public Exporter {
  public:
    std::string to_string(const Run& run) const override {
        return to_markdown(describe(run));
    }
    std::string to_string(const Comparison& comparison) const override {
        return to_markdown(describe(comparison));
    }
    std::string to_string(const Validation& validation) const override {
        return to_markdown(describe(validation));
    }
    std::string to_string(const Sensitivity& sensitivity) const override {
        return to_markdown(describe(sensitivity));
    }
};

} // namespace

std::string to_markdown(const Document& document) {
    std::string text = "# " + escaped(document.title) + "\n\n";
    for (const std::string& fact : document.facts) {
        text += "- " + escaped(fact) + '\n';
    }
    for (const Section& section : document.sections) {
        text += section_markdown(section);
    }
    return text;
}

std::unique_ptr<Exporter> make_markdown_exporter() {
    return std::make_unique<MarkdownExporter>();
}

} // namespace uringsim::analysis
