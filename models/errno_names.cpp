#include "models/errno_names.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace uringsim::models {

namespace {

struct Row {
    int value;
    std::string_view name;
};

// The errors that io_uring's resource paths return.
constexpr std::array table{
    Row{-EAGAIN, "-EAGAIN"},       Row{-EBADF, "-EBADF"},         Row{-EBADFD, "-EBADFD"},
    Row{-EBADR, "-EBADR"},         Row{-EBUSY, "-EBUSY"},         Row{-ECANCELED, "-ECANCELED"},
    Row{-EEXIST, "-EEXIST"},       Row{-EFAULT, "-EFAULT"},       Row{-EINVAL, "-EINVAL"},
    Row{-EMFILE, "-EMFILE"},       Row{-ENFILE, "-ENFILE"},       Row{-ENOENT, "-ENOENT"},
    Row{-ENOMEM, "-ENOMEM"},       Row{-ENXIO, "-ENXIO"},         Row{-EOPNOTSUPP, "-EOPNOTSUPP"},
    Row{-EOVERFLOW, "-EOVERFLOW"}, Row{-EOWNERDEAD, "-EOWNERDEAD"}, Row{-EPERM, "-EPERM"},
};

} // namespace

std::string result_name(int result) {
    const auto* const row = std::ranges::find(table, result, &Row::value);
    return row == table.end() ? std::to_string(result) : std::string(row->name);
}

std::optional<int> find_errno(std::string_view name) {
    const auto* const row = std::ranges::find(table, name, &Row::name);
    return row == table.end() ? std::nullopt : std::optional(row->value);
}

std::vector<std::string_view> errno_names() {
    std::vector<std::string_view> names;
    for (const Row& row : table) {
        names.push_back(row.name);
    }
    return names;
}

} // namespace uringsim::models
