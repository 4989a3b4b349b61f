#include "models/uring/node_cache/trimmed_policy.h"

#include "models/counters.h"
#include "models/kernel.h"
#include "models/mechanisms.h"
#include "sim/engine.h"

namespace uringsim::models {

/// The deferred work: waits until the cache has been quiet, then frees a node a stage.
class TrimmedPolicy::Trim final : public sim::Task {
  public:
    Trim(TrimmedPolicy& policy, sim::Cpu& cpu)
        : Task("node cache trim", kworker_task, cpu), policy_(&policy) {}

    void stop() { policy_ = nullptr; }

    sim::Step step(sim::Cpu& cpu) override {
        if (policy_ == nullptr) {
            return sim::Step::done();
        }
        if (!policy_->above_limit()) {
            return sim::Step::blocked();
        }
        if (cpu.now() < policy_->last_use_ + policy_->quiet_) {
            return sim::Step::sleep_until(policy_->last_use_ + policy_->quiet_);
        }
        const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
        policy_->free_node(cpu, *policy_->cache().get(cpu));
        cpu.count(id(Counter::node_free));
        return sim::Step::ready();
    }

  private:
    TrimmedPolicy* policy_;
};

TrimmedPolicy::TrimmedPolicy(sim::Cpu& cpu, const NodeCacheContext& context)
    : RaisedLimitPolicy(cpu, context), quiet_(context.cycles_of_us(design().node_cache_trim_us)) {
    auto trim = std::make_unique<Trim>(*this, cpu);
    trim_ = trim.get();
    context.deferred.push_back(std::move(trim));
}

std::unique_ptr<NodeCache> TrimmedPolicy::make(sim::Cpu& cpu, const NodeCacheContext& context) {
    return std::make_unique<TrimmedPolicy>(cpu, context);
}

bool TrimmedPolicy::above_limit() const {
    return cached() > static_cast<std::uint32_t>(design().node_cache_limit);
}

/// The cache was used now: the quiet period starts anew.
void TrimmedPolicy::used(sim::Cpu& cpu) {
    last_use_ = cpu.now();
    if (above_limit() && !trim_->pending()) {
        cpu.engine().wake(*trim_, last_use_ + quiet_);
    }
}

Object* TrimmedPolicy::get(sim::Cpu& cpu) {
    Object* node = RaisedLimitPolicy::get(cpu);
    used(cpu);
    return node;
}

void TrimmedPolicy::put(sim::Cpu& cpu, Object& node) {
    RaisedLimitPolicy::put(cpu, node);
    used(cpu);
}

void TrimmedPolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) {
    RaisedLimitPolicy::sparse_table_registered(cpu, slots, opt_in);
    used(cpu);
}

bool TrimmedPolicy::drain_one(sim::Cpu& cpu) {
    if (trim_->pending()) {
        cpu.engine().cancel(*trim_);
    }
    trim_->stop();
    return RaisedLimitPolicy::drain_one(cpu);
}

} // namespace uringsim::models
