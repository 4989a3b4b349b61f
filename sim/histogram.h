#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uringsim::sim {

/// A log-linear histogram of non-negative integers: 64 buckets for each power of two, as fio keeps
/// its latencies. Values below 128 are exact; a larger one is known to within half a bucket, so a
/// percentile is off by at most 1/128 (0.8 %). Minimum, maximum, count and sum are exact.
class Histogram {
  public:
    /// 100 x 2^-7: the greatest relative error of a percentile, in percent.
    static constexpr double error_percent = 0.78125;

    void add(std::uint64_t value);
    void merge(const Histogram& other);

    std::uint64_t count() const { return count_; }
    std::uint64_t min() const { return count_ > 0 ? min_ : 0; }
    std::uint64_t max() const { return max_; }
    double mean() const;

    /// The middle of the bucket in which the p-th percentile lies, p in thousandths of a percent
    /// (99'900: the 99.9th), never outside [min, max]; 0 when the histogram is empty. As fio: the
    /// first bucket at which the running count is at least p percent of all.
    std::uint64_t percentile(std::uint32_t millipercent) const;

    /// One bucket that holds something: values in [low, high].
    struct Bucket {
        std::uint64_t low;
        std::uint64_t high;
        std::uint64_t count;
    };
    /// The buckets that hold something, in order.
    std::vector<Bucket> buckets() const;

  private:
    static std::size_t index_of_value(std::uint64_t value);
    static Bucket bounds(std::size_t index);

    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::uint64_t min_ = 0;
    std::uint64_t max_ = 0;
    std::uint64_t sum_ = 0;
};

} // namespace uringsim::sim
