#include "analysis/native/btf.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

// The format is the kernel's, Documentation/bpf/btf.rst and include/uapi/linux/btf.h.

namespace uringsim::analysis::native {

namespace {

constexpr std::uint16_t magic = 0xeB9F;
constexpr unsigned bits_a_byte = 8;

struct Header {
    std::uint16_t magic;
    std::uint8_t version;
    std::uint8_t flags;
    std::uint32_t header_bytes;
    std::uint32_t type_offset;
    std::uint32_t type_bytes;
    std::uint32_t string_offset;
    std::uint32_t string_bytes;
};

struct Type {
    std::uint32_t name;
    std::uint32_t info;
    std::uint32_t size;
};

enum Kind : unsigned {
    integer = 1,
    array = 3,
    structure = 4,
    union_ = 5,
    enumeration = 6,
    function_type = 13,
    variable = 14,
    section = 15,
    tag = 17,
    enumeration64 = 19
};

/// Bytes that follow a type of this kind with `count` elements.
std::size_t bytes_behind(unsigned kind, std::size_t count) {
    switch (kind) {
    case integer:
    case variable:
    case tag:
        return 4;
    case array:
        return 12;
    case structure:
    case union_:
    case section:
    case enumeration64:
        return 12 * count;
    case enumeration:
    case function_type:
        return 8 * count;
    default:
        return 0;
    }
}

template <class T>
bool read_at(std::string_view bytes, std::size_t at, T& value) {
    if (at > bytes.size() || bytes.size() - at < sizeof value) {
        return false;
    }
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return true;
}

std::string text_at(std::string_view strings, std::size_t at) {
    return at < strings.size() ? std::string(strings.substr(at, strings.find('\0', at) - at)) : "";
}

} // namespace

Btf Btf::parse(std::string_view bytes) {
    Btf btf;
    Header header{};
    if (!read_at(bytes, 0, header) || header.magic != magic || header.header_bytes > bytes.size()) {
        return btf;
    }
    const std::string_view body = bytes.substr(header.header_bytes);
    if (header.type_offset > body.size() || header.string_offset > body.size()) {
        return btf;
    }
    const std::string_view types = body.substr(header.type_offset, header.type_bytes);
    const std::string_view strings = body.substr(header.string_offset, header.string_bytes);
    Type type{};
    for (std::size_t at = 0; read_at(types, at, type);) {
        const unsigned kind = (type.info >> 24U) & 0x1fU;
        const std::size_t count = type.info & 0xffffU;
        const bool bit_fields = (type.info >> 31U) != 0;
        at += sizeof type;
        if (kind == structure && type.name != 0) {
            Structure found{type.size, {}};
            struct {
                std::uint32_t name, type, offset;
            } member{};
            for (std::size_t i = 0; i < count && read_at(types, at + 12 * i, member); ++i) {
                const std::uint32_t bits = bit_fields ? member.offset & 0xffffffU : member.offset;
                found.offsets.emplace(text_at(strings, member.name), bits / bits_a_byte);
            }
            btf.structs_.emplace(text_at(strings, type.name), std::move(found));
        }
        at += bytes_behind(kind, count);
    }
    return btf;
}

Btf Btf::load() {
    const std::ifstream file("/sys/kernel/btf/vmlinux", std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return parse(bytes.str());
}

std::optional<std::uint64_t> Btf::struct_bytes(const std::string& name) const {
    const auto found = structs_.find(name);
    return found == structs_.end() ? std::nullopt : std::optional(found->second.bytes);
}

std::optional<std::uint64_t> Btf::member_offset(const std::string& structure,
                                                const std::string& member) const {
    const auto found = structs_.find(structure);
    if (found == structs_.end()) {
        return std::nullopt;
    }
    const auto offset = found->second.offsets.find(member);
    return offset == found->second.offsets.end() ? std::nullopt : std::optional(offset->second);
}

} // namespace uringsim::analysis::native
