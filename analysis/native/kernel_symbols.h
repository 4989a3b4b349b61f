#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis::native {

/// A stretch of kernel addresses, end excluded.
struct AddressRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// The running kernel's functions, from /proc/kallsyms.
class KernelSymbols {
  public:
    /// Parses the text of kallsyms; lines of modules and of data are kept out. Empty where the
    /// kernel hides its addresses (kptr_restrict: all are 0).
    static KernelSymbols parse(std::string_view kallsyms);

    /// Reads /proc/kallsyms.
    static KernelSymbols load();

    bool empty() const { return by_name_.empty(); }

    /// From the function's first byte to the next symbol's, and the same for the parts that the
    /// compiler split off (name.cold, name.isra.0, name.part.0 ...).
    std::vector<AddressRange> ranges(const std::string& name) const;

  private:
    std::multimap<std::string, std::uint64_t> by_name_; ///< without the compiler's suffix
    std::vector<std::uint64_t> starts_;                 ///< of all functions, ascending
};

/// The filter of a trace event that lets those of these call sites through. A call site is a return
/// address, so it lies behind its call: `begin` is excluded, and `end`, where a function ends with
/// a call, included.
std::string call_site_filter(const std::vector<AddressRange>& ranges);

} // namespace uringsim::analysis::native
