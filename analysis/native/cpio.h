#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace uringsim::analysis::native {

/// Writes an initramfs: the "newc" format of cpio (Documentation/driver-api/early-userspace/
/// buffer-format.rst). The same files give the same bytes.
class CpioWriter {
  public:
    void add_file(std::string_view name, std::string_view content, std::uint32_t mode);
    void add_folder(std::string_view name);
    void add_console();

    /// The archive with its end; the writer is empty afterwards.
    std::string finish();

  private:
    struct Entry {
        std::string_view name;
        std::string_view content;
        std::uint32_t mode = 0;
        std::uint32_t device_major = 0;
        std::uint32_t device_minor = 0;
    };
    void add(const Entry& entry);

    std::string bytes_;
    std::uint32_t next_inode_ = 1;
};

} // namespace uringsim::analysis::native
