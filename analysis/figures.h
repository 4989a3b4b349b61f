#pragma once

#include "analysis/library.h"
#include "analysis/published.h"
#include "analysis/run.h"
#include "models/machine.h"
#include "scenarios/result.h"
#include "scenarios/strict_json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// The runs that published figures belong to, each made once however many figures share it.
class FigureRuns {
  public:
    /// Prepares the runs of all figures. A machine in `machines` takes the place of the library's
    /// of that name. Nothing after reporting what the figures name that is not there.
    static std::optional<FigureRuns> plan(const Library& library,
                                          const std::vector<PublishedFigure>& figures,
                                          const std::vector<models::Machine>& machines,
                                          scenarios::Diagnostics& diagnostics);

    /// Runs everything on at most `jobs` threads; the results do not depend on how many. Throws
    /// scenarios::RunError, that of the first run in the order of the figures.
    void execute(unsigned jobs);

    std::size_t size() const { return runs_.size(); }

    /// The result for the figure of that index. After execute().
    const scenarios::Result& result(std::size_t figure) const;
    /// The same for the baseline of a change.
    const scenarios::Result& baseline(std::size_t figure) const;
    const models::Machine& machine(std::size_t figure) const;
    const scenarios::Scenario& scenario(std::size_t figure) const;

  private:
    struct PlannedRun {
        std::string key;
        std::string figure; ///< the first that needs it, for messages
        PreparedRuns prepared;
        std::optional<scenarios::Result> result;
    };

    std::optional<std::size_t> add(const Library& library, const PublishedFigure& figure,
                                   bool of_baseline, const std::vector<models::Machine>& machines,
                                   scenarios::Diagnostics& diagnostics);

    std::vector<PlannedRun> runs_;
    std::vector<std::size_t> run_of_;
    std::vector<std::size_t> baseline_of_; ///< the run itself for a figure that is no change
};

/// What a figure's phase costs in one round, as counts: on one CPU its time is their sum, each
/// times what the machine says it costs.
struct CostCounts {
    std::vector<double> count;  ///< by primitive, a measured round
    double fixed_cycles = 0;    ///< spent on what has no price: waiting
    double measured_cycles = 0; ///< what the round took

    /// The same by the machine's costs: within the fractions of a cycle that a run carries over.
    double cycles(const models::Machine& machine) const;

    /// Whether the phase is the sum of its counts, to a thousandth: not where several tasks share
    /// its time.
    bool is_sum(const models::Machine& machine) const;
};

/// Nothing where there is no such phase.
std::optional<CostCounts> cost_counts(const scenarios::Result& result, const std::string& phase);

/// Cycles of a round into the unit of a figure's value; for a rate into ns an operation.
double per_cycle(const PublishedFigure& figure, const scenarios::Result& result);

/// The threads to use where nobody says: one a CPU.
unsigned default_jobs();

} // namespace uringsim::analysis
