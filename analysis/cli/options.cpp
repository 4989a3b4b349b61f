#include "analysis/cli/options.h"

#include "analysis/export/table.h"
#include "scenarios/did_you_mean.h"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <sstream>

namespace uringsim::analysis {

namespace po = boost::program_options;
using scenarios::Diagnostics;

namespace {

constexpr unsigned help_columns = 80;

/// The long form of a name as Boost has it: "output,o".
std::string long_name(const std::string& name) {
    return "--" + name.substr(0, name.find(','));
}

} // namespace

Options::Options(std::string_view command, std::string_view help, std::string_view arguments)
    : command_(command)
    , help_(help)
    , argument_name_(arguments)
    , description_("options", help_columns) {
    description_.add_options()("help,h", "say what the command does and takes");
    names_.emplace_back("--help");
}

Options& Options::value(const char* name, const char* value_name, const char* help) {
    description_.add_options()(name, po::value<std::string>()->value_name(value_name), help);
    names_.push_back(long_name(name));
    return *this;
}

Options& Options::repeated(const char* name, const char* value_name, const char* help) {
    description_.add_options()(
        name, po::value<std::vector<std::string>>()->value_name(value_name)->composing(), help);
    names_.push_back(long_name(name));
    return *this;
}

Options& Options::flag(const char* name, const char* help) {
    description_.add_options()(name, help);
    names_.push_back(long_name(name));
    return *this;
}

std::string Options::usage() const {
    std::ostringstream text;
    text << "usage: uringsim " << command_ << (argument_name_.empty() ? "" : " ") << argument_name_
         << " [options]\n"
         << wrapped(help_, 0) << "\n\n"
         << description_;
    return text.str();
}

void Options::read(std::span<const std::string> args) {
    po::options_description all;
    all.add(description_);
    all.add_options()(argument_key, po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    if (!argument_name_.empty()) {
        positional.add(argument_key, argument_name_.find("...") != std::string::npos ? -1 : 1);
    }
    using Style = po::command_line_style::style_t;
    const int style = Style::unix_style & ~Style::allow_guessing;
    po::store(po::command_line_parser(std::vector<std::string>(args.begin(), args.end()))
                  .options(all)
                  .positional(positional)
                  .style(style)
                  .run(),
              values_);
    po::notify(values_);
}

bool Options::parse(std::span<const std::string> args, std::ostream& out) {
    try {
        read(args);
    } catch (const po::unknown_option& error) {
        const std::string name = error.get_option_name();
        std::string message = fmt::format("there is no option \"{}\"", name);
        if (const auto near = scenarios::did_you_mean(name, names_)) {
            message += fmt::format("; did you mean \"{}\"?", *near);
        }
        throw UsageError(message);
    } catch (const po::too_many_positional_options_error&) {
        throw UsageError(argument_name_.empty()
                             ? "takes no arguments but options"
                             : fmt::format("takes one {}, not several", argument_name_));
    } catch (const po::error& error) {
        throw UsageError(error.what());
    }
    if (values_.count("help") != 0) {
        out << usage();
        return false;
    }
    const bool wanted =
        !argument_name_.empty() && argument_name_.front() != '['; // [x]: may be left out
    if (wanted && values_.count(argument_key) == 0) {
        throw UsageError(fmt::format("{} is missing; `uringsim {} --help` says what it takes",
                                     argument_name_, command_));
    }
    return true;
}

std::optional<std::string> Options::get(const std::string& name) const {
    if (values_.count(name) == 0) {
        return std::nullopt;
    }
    return values_[name].as<std::string>();
}

std::vector<std::string> Options::all(const std::string& name) const {
    if (values_.count(name) == 0) {
        return {};
    }
    return values_[name].as<std::vector<std::string>>();
}

void add_data_option(Options& options) {
    options.value("data", "DIR",
                  "folder of the scenarios, designs and machines, in place of the shipped one "
                  "(also: environment variable URINGSIM_DATA)");
}

void add_request_options(Options& options) {
    options.value("machine", "M", "machine, by name or path, in place of the scenario's")
        .repeated("set", "KNOB=VALUE", "set a knob of the design; may be repeated")
        .repeated("param", "NAME=VALUE", "set a parameter of the scenario; may be repeated")
        .value("seed", "N", "seed of the random streams, in place of the scenario's");
}

void add_run_options(Options& options) {
    add_request_options(options);
    options.value("format", "FORMAT", "text (default), json, csv or markdown")
        .value("output,o", "FILE", "write the result to FILE in place of standard output");
    add_data_option(options);
}

std::vector<std::pair<std::string, std::string>> read_assignments(const Options& options,
                                                                  const std::string& name,
                                                                  std::string_view what,
                                                                  Diagnostics& diagnostics) {
    std::vector<std::pair<std::string, std::string>> assignments;
    for (const std::string& text : options.all(name)) {
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos) {
            diagnostics.add_option("--" + name,
                                   fmt::format("must be {}=value; got \"{}\"", what, text));
        } else {
            assignments.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return assignments;
}

std::vector<std::string> read_list(const std::string& text, const std::string& option,
                                   Diagnostics& diagnostics) {
    std::vector<std::string> names;
    std::size_t at = 0;
    while (at <= text.size()) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        names.push_back(text.substr(at, comma - at));
        if (names.back().empty()) {
            diagnostics.add_option(option, fmt::format("a name is missing in \"{}\"", text));
            return {};
        }
        at = comma + 1;
    }
    return names;
}

std::optional<std::uint64_t> read_unsigned(const Options& options, const std::string& name,
                                           const scenarios::UnsignedRange& range,
                                           Diagnostics& diagnostics) {
    const auto text = options.get(name);
    if (!text) {
        return std::nullopt;
    }
    std::string error;
    const auto value = scenarios::parse_unsigned(*text, range, error);
    if (!value) {
        diagnostics.add_option("--" + name, error);
    }
    return value;
}

unsigned read_jobs(const Options& options, unsigned fallback, Diagnostics& diagnostics) {
    constexpr std::uint64_t max_jobs = 1024;
    return static_cast<unsigned>(
        read_unsigned(options, "jobs", {1, max_jobs, "threads"}, diagnostics).value_or(fallback));
}

RunRequest read_request(const Options& options, Diagnostics& diagnostics) {
    RunRequest request;
    request.scenario = options.arguments().front();
    request.machine = options.get("machine");
    request.knobs = read_assignments(options, "set", "knob", diagnostics);
    request.parameters = read_assignments(options, "param", "name", diagnostics);
    request.seed = read_unsigned(options, "seed", {}, diagnostics);
    return request;
}

} // namespace uringsim::analysis
