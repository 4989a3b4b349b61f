#include "sim/histogram.h"

#include <algorithm>
#include <bit>

namespace uringsim::sim {

namespace {

constexpr unsigned bucket_bits = 6;
constexpr std::uint64_t buckets_per_power = 1U << bucket_bits;

} // namespace

std::size_t Histogram::index_of_value(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= bucket_bits + 1) {
        return value; // exact below 128
    }
    const unsigned shift = width - bucket_bits - 1;
    return (std::uint64_t{shift} << bucket_bits) + (value >> shift);
}

Histogram::Bucket Histogram::bounds(std::size_t index) {
    if (index < 2 * buckets_per_power) {
        return {index, index, 0};
    }
    const unsigned shift = static_cast<unsigned>(index >> bucket_bits) - 1;
    const std::uint64_t low = (buckets_per_power + (index & (buckets_per_power - 1))) << shift;
    return {low, low + (std::uint64_t{1} << shift) - 1, 0};
}

void Histogram::add(std::uint64_t value) {
    const std::size_t index = index_of_value(value);
    if (index >= counts_.size()) {
        counts_.resize(index + 1, 0);
    }
    ++counts_[index];
    min_ = count_ == 0 ? value : std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += value;
    ++count_;
}

void Histogram::merge(const Histogram& other) {
    if (other.count_ == 0) {
        return;
    }
    counts_.resize(std::max(counts_.size(), other.counts_.size()), 0);
    for (std::size_t i = 0; i < other.counts_.size(); ++i) {
        counts_[i] += other.counts_[i];
    }
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
    count_ += other.count_;
}

double Histogram::mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t Histogram::percentile(std::uint32_t millipercent) const {
    constexpr std::uint64_t whole = 100'000;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        sum += counts_[i];
        // sum / count >= p / 100 without a division
        if (counts_[i] > 0 && sum * whole >= count_ * millipercent) {
            const Bucket bucket = bounds(i);
            return std::clamp(bucket.low + (bucket.high - bucket.low + 1) / 2, min(), max());
        }
    }
    return max();
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
    std::vector<Bucket> result;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] > 0) {
            Bucket bucket = bounds(i);
            bucket.count = counts_[i];
            result.push_back(bucket);
        }
    }
    return result;
}

} // namespace uringsim::sim
