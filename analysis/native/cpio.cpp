#include "analysis/native/cpio.h"

#include <fmt/format.h>

namespace uringsim::analysis::native {

namespace {

constexpr std::uint32_t regular_file = 0100000;
constexpr std::uint32_t folder = 0040755;
constexpr std::uint32_t character_device = 0020600;
constexpr std::size_t alignment = 4;

void pad(std::string& bytes) {
    bytes.append((alignment - bytes.size() % alignment) % alignment, '\0');
}

} // namespace

void CpioWriter::add(const Entry& entry) {
    // Magic, inode, mode, uid, gid, links, time, size, device, device of the node, name, checksum.
    bytes_ += fmt::format("070701{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}"
                          "{:08X}{:08X}",
                          next_inode_++, entry.mode, 0, 0, 1, 0, entry.content.size(), 0, 0,
                          entry.device_major, entry.device_minor, entry.name.size() + 1, 0);
    bytes_ += entry.name;
    bytes_ += '\0';
    pad(bytes_);
    bytes_ += entry.content;
    pad(bytes_);
}

void CpioWriter::add_file(std::string_view name, std::string_view content, std::uint32_t mode) {
    add({name, content, regular_file | mode});
}

void CpioWriter::add_folder(std::string_view name) {
    add({name, "", folder});
}

void CpioWriter::add_console() {
    constexpr std::uint32_t console_major = 5;
    constexpr std::uint32_t console_minor = 1;
    add({"dev/console", "", character_device, console_major, console_minor});
}

std::string CpioWriter::finish() {
    next_inode_ = 0;
    add({"TRAILER!!!", "", 0});
    next_inode_ = 1;
    return std::move(bytes_);
}

} // namespace uringsim::analysis::native
