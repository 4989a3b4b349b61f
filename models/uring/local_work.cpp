#include "models/uring/local_work.h"

#include "models/primitives.h"

#include <limits>

namespace uringsim::models {

LocalWork::Added LocalWork::push(sim::Cpu& cpu, LocalWorkItem item, bool lazy) {
    cpu.touch(line_);
    Added added;
    added.first = list_.empty();
    added.nr_tw_prev = head_count();
    item.nr_tw = lazy && counting_ ? added.nr_tw_prev + 1 : forced;
    added.nr_tw = item.nr_tw;
    list_.push_back(item);
    return added;
}

bool LocalWork::Run::next(sim::Cpu& cpu, LocalWork& work, LocalWorkItem& item) {
    const std::int64_t cap = max_ > 0 ? max_ : std::numeric_limits<std::int64_t>::max();
    if (part_ == Part::retry) {
        if (!work.retry_.empty() && (part_ran_ == 0 || part_ran_ < cap)) {
            item = work.retry_.front();
            work.retry_.pop_front();
            ++part_ran_;
            return true;
        }
        ran_ += part_ran_;
        if (!work.retry_.empty()) {
            part_ = Part::over; // the cap was reached within the retry list
            return false;
        }
        take_list(cpu, work);
    }
    if (part_ == Part::list) {
        // As the kernel's loop, which looks at the budget only after an item: one always runs.
        if (!taken_.empty() && (part_ran_ == 0 || part_ran_ < cap - ran_)) {
            item = taken_.front();
            taken_.pop_front();
            ++part_ran_;
            return true;
        }
        end_of_list(work);
        if (part_ == Part::retry) {
            return next(cpu, work, item);
        }
    }
    return false;
}

void LocalWork::Run::take_list(sim::Cpu& cpu, LocalWork& work) {
    part_ = Part::list;
    part_ran_ = 0;
    if (work.list_.empty()) {
        return;
    }
    cpu.charge(id(Primitive::local_work_run));
    cpu.touch(work.line_);
    if (work.lifo_) {
        taken_.assign(work.list_.rbegin(), work.list_.rend());
    } else {
        taken_.assign(work.list_.begin(), work.list_.end());
    }
    work.list_.clear();
}

void LocalWork::Run::end_of_list(LocalWork& work) {
    ran_ += part_ran_;
    work.retry_.swap(taken_);
    taken_.clear();
    const bool once_more = work.pending() && (ran_ < min_ || !work.counting_);
    part_ = Part::over;
    if (once_more) {
        min_ -= ran_;
        ran_ = 0;
        part_ran_ = 0;
        part_ = Part::retry;
    }
}

bool LocalWork::Run::again(const LocalWork& work) {
    if (!work.pending() || (ran_ >= min_ && work.counting_)) {
        return false;
    }
    min_ -= ran_;
    ran_ = 0;
    part_ran_ = 0;
    part_ = Part::retry;
    return true;
}

std::vector<LocalWorkItem> LocalWork::take_all() {
    std::vector<LocalWorkItem> items(retry_.begin(), retry_.end());
    items.insert(items.end(), list_.begin(), list_.end());
    retry_.clear();
    list_.clear();
    return items;
}

} // namespace uringsim::models
