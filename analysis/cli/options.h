#pragma once

#include "analysis/library.h"
#include "analysis/run.h"
#include "scenarios/strict_json.h"

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uringsim::analysis {

/// The command line makes no sense; what() says why.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The options and arguments of one sub-command. Option names are never guessed from their start.
class Options {
  public:
    /// `arguments` is how the usage line writes what follows the options: "SCENARIO"; empty where
    /// there is nothing. A name with "..." takes one or more.
    Options(std::string_view command, std::string_view help, std::string_view arguments);

    /// An option that takes a value, at most once or, if it repeats, any number of times.
    Options& value(const char* name, const char* value_name, const char* help);
    Options& repeated(const char* name, const char* value_name, const char* help);

    /// An option that is there or not.
    Options& flag(const char* name, const char* help);

    /// Reads the command line. False where help was asked for, and written to `out`. Throws
    /// UsageError.
    bool parse(std::span<const std::string> args, std::ostream& out);

    std::optional<std::string> get(const std::string& name) const;
    std::vector<std::string> all(const std::string& name) const;
    bool given(const std::string& name) const { return values_.count(name) != 0; }

    /// The arguments that are no options; at least one where the command takes any.
    std::vector<std::string> arguments() const { return all(argument_key); }

  private:
    static constexpr const char* argument_key = "argument";

    void read(std::span<const std::string> args);
    std::string usage() const;

    std::string command_;
    std::string help_;
    std::string argument_name_;
    std::vector<std::string> names_; ///< with their dashes, for suggestions
    boost::program_options::options_description description_;
    boost::program_options::variables_map values_;
};

/// --data.
void add_data_option(Options& options);

/// --machine, --set, --param and --seed: what makes up a request, less its files.
void add_request_options(Options& options);

/// Those, --format, -o and --data: what run and compare share.
void add_run_options(Options& options);

/// The request that those options and the scenario argument make.
RunRequest read_request(const Options& options, scenarios::Diagnostics& diagnostics);

/// Splits "name=value"; reports one without '='.
std::vector<std::pair<std::string, std::string>>
read_assignments(const Options& options, const std::string& name, std::string_view what,
                 scenarios::Diagnostics& diagnostics);

/// The whole number of an option; nothing where it is not given, or after reporting.
std::optional<std::uint64_t> read_unsigned(const Options& options, const std::string& name,
                                           const scenarios::UnsignedRange& range,
                                           scenarios::Diagnostics& diagnostics);

/// --jobs; `fallback` where it is not given.
unsigned read_jobs(const Options& options, unsigned fallback, scenarios::Diagnostics& diagnostics);

/// Splits "A,B,C"; reports empty names.
std::vector<std::string> read_list(const std::string& text, const std::string& option,
                                   scenarios::Diagnostics& diagnostics);

} // namespace uringsim::analysis
