#pragma once

#include "analysis/library.h"
#include "analysis/sweep/constraint.h"
#include "analysis/sweep/sweep_spec.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// Which value each axis has at a point, by the axis's place in SweepPlan::axes().
using Choice = std::vector<std::size_t>;

/// One run of a sweep with everything bound.
struct SweepPoint {
    std::uint64_t index = 0; ///< in the order of the sweep, from 0, left-out points not counted
    Choice choice;
    std::shared_ptr<const scenarios::Scenario> scenario; ///< parameters and seed bound
    models::Design design;                               ///< all knobs set
    std::shared_ptr<const models::Machine> machine;
    std::uint64_t key = 0; ///< hash of the effective configuration, version and seed
};

/// A sweep that was checked: the files are parsed once, and a point is bound from them when its turn
/// comes. Points that break a constraint, or that make no sense (knobs that conflict, a parameter
/// beyond what another allows), are left out, counted, and the first reason of each kind is kept.
class SweepPlan {
  public:
    /// Reads all that the spec names. Nothing after reporting every error found.
    static std::optional<SweepPlan> make(const Library& library, SweepSpec spec,
                                         scenarios::Diagnostics& diagnostics);

    const SweepSpec& spec() const { return spec_; }
    const std::vector<Axis>& axes() const { return spec_.axes; }
    /// The base scenario: its phases and parameters are those of every point.
    const scenarios::Scenario& scenario() const { return scenario_; }

    /// Points before any are left out.
    std::uint64_t combinations() const { return combinations_; }
    std::uint64_t runs() const { return runs_; }
    /// Of all that makes up the sweep and of the version; equal: the same rows in the same order.
    std::uint64_t hash() const { return hash_; }
    /// The knobs that are set or swept, in that order.
    const std::vector<const models::Knob*>& knobs() const { return knobs_; }
    /// Points left out, by reason.
    const std::map<std::string, std::uint64_t>& left_out() const { return left_out_; }

    /// The point of a combination; nothing where it is left out, with the reason if asked for.
    std::optional<SweepPoint> bind(const Choice& choice, std::string* reason = nullptr) const;
    /// Whether bind() gives a point; cheaper.
    bool has_point(const Choice& choice) const;
    Choice choice_of(std::uint64_t combination) const;

    /// The choice whose axes of `group` have the value of place `value`.
    Choice with(const Choice& choice, std::size_t group, std::size_t value) const;
    /// The number of groups of axes that move together, and of values of one.
    std::size_t groups() const { return group_sizes_.size(); }
    std::size_t group_size(std::size_t group) const { return group_sizes_[group]; }

  private:
    struct NamedMachine {
        std::shared_ptr<const models::Machine> machine;
        std::uint64_t hash = 0;
    };

    explicit SweepPlan(SweepSpec spec, scenarios::JsonNode root)
        : spec_(std::move(spec)), root_(std::move(root)) {}

    void add_default_axes(const scenarios::Scenario& scenario, scenarios::Diagnostics& diagnostics);
    Axis repeated_seeds(std::uint64_t first, scenarios::Diagnostics& diagnostics) const;
    void number_groups(scenarios::Diagnostics& diagnostics);
    void check_axes(scenarios::Diagnostics& diagnostics);
    void load_designs(const Library& library, scenarios::Diagnostics& diagnostics);
    void load_machines(const Library& library, scenarios::Diagnostics& diagnostics);
    std::vector<std::int64_t> knob_values(const Axis& axis,
                                          scenarios::Diagnostics& diagnostics) const;
    std::vector<std::int64_t> parameter_values(const Axis& axis,
                                               scenarios::Diagnostics& diagnostics) const;
    void read_seeds(const Axis& axis, scenarios::Diagnostics& diagnostics);
    void list_knobs();
    void count_runs(scenarios::Diagnostics& diagnostics);
    void count_apart(const std::vector<bool>& of_scenario, const std::vector<bool>& of_design);
    std::uint64_t hash_of_sweep() const;
    Choice choice_at(const std::vector<std::size_t>& places) const;
    /// Calls `visit` with each choice of the groups that move; the others stay at their first
    /// value.
    template <class Visit>
    void for_each_choice(const std::vector<bool>& moving, const Visit& visit) const;
    /// The number of combinations of groups.
    std::uint64_t product(const std::vector<bool>& groups) const;

    /// The design of a choice, and why it makes no sense; empty where it does.
    models::Design design_of(const Choice& choice) const;
    std::string conflict_of(const models::Design& design) const;
    /// The scenario and the design of a choice; false where it is left out, with the reason.
    bool shape(const Choice& choice, SweepPoint& point, std::string* reason) const;
    std::shared_ptr<const scenarios::Scenario> scenario_for(const Choice& choice,
                                                            std::string* reason) const;
    std::uint64_t key_of(const SweepPoint& point) const;
    std::uint64_t seed_of(const Choice& choice) const;

    SweepSpec spec_;
    scenarios::JsonNode root_;
    std::uint64_t root_hash_ = 0;
    scenarios::Scenario scenario_;
    std::vector<models::Design> designs_;
    std::vector<NamedMachine> machines_;
    std::vector<std::vector<std::int64_t>> numbers_; ///< by axis: values of knobs and parameters
    std::vector<std::uint64_t> seeds_;
    std::vector<Constraint> constraints_;
    std::vector<std::size_t> group_sizes_;
    std::uint64_t combinations_ = 0;
    std::uint64_t runs_ = 0;
    std::uint64_t hash_ = 0;
    std::vector<const models::Knob*> knobs_;
    std::map<std::string, std::uint64_t> left_out_;

    /// Scenarios bound so far, by the values of the parameters; a null one is refused.
    struct Bound {
        std::shared_ptr<const scenarios::Scenario> scenario;
        std::string reason;
    };
    mutable std::map<std::vector<std::size_t>, Bound> bound_;
};

/// "uringsim sweep: 3 points left out: why", a line for each reason.
std::string left_out_text(const SweepPlan& plan, std::string_view command);

/// Walks the points of one shard in order. Not for several threads at once.
class PointWalk {
  public:
    /// `shard` of `shards`, from 1: every shards-th run.
    PointWalk(const SweepPlan& plan, std::uint64_t shard, std::uint64_t shards)
        : plan_(&plan), shard_(shard), shards_(shards) {}

    std::optional<SweepPoint> next();
    /// Runs of this shard in all, and those that next() has not given yet.
    std::uint64_t total() const;
    std::uint64_t left() const { return total() - given_; }

  private:
    const SweepPlan* plan_;
    std::uint64_t shard_;
    std::uint64_t shards_;
    std::uint64_t combination_ = 0;
    std::uint64_t index_ = 0;
    std::uint64_t given_ = 0;
};

} // namespace uringsim::analysis
