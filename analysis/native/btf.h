#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace uringsim::analysis::native {

/// The running kernel's own type information (BTF): how large its structures are, where their
/// members lie. So a design's sizes are checked against the kernel instead of believed.
class Btf {
  public:
    /// Parses the bytes of /sys/kernel/btf/vmlinux. Empty where they make no sense.
    static Btf parse(std::string_view bytes);

    /// Reads /sys/kernel/btf/vmlinux; empty where the kernel has none.
    static Btf load();

    bool empty() const { return structs_.empty(); }
    std::optional<std::uint64_t> struct_bytes(const std::string& name) const;

    /// In bytes. Nothing for a member of an anonymous member.
    std::optional<std::uint64_t> member_offset(const std::string& structure,
                                               const std::string& member) const;

  private:
    struct Structure {
        std::uint64_t bytes = 0;
        std::map<std::string, std::uint64_t> offsets;
    };
    std::map<std::string, Structure> structs_; ///< the first of each name
};

} // namespace uringsim::analysis::native
