#include "models/code_lengths.h"

#include "sim/cost.h"

#include <algorithm>
#include <array>

namespace uringsim::models {

namespace {

using P = Primitive;

/// Differences of traces (instructions by function, QEMU TCG) of the cells that `calibrate
/// --native` fits to, of Debian's cloud kernels 6.1.0-57, 6.12.117, 6.16.12 against 6.18.15. A row
/// stands for all that is done once for what its primitive counts.
constexpr std::array<CodeLength, 12> table{{
    {P::syscall_enter, -64, 30, -4,
     "6.1: no io_cqring_wait when CQEs are there, shorter do_syscall_64; 6.12: "
     "syscall_exit_to_user_mode and what it calls, inlined later; __io_commit_cqring_flush"},
    {P::syscall_register, 19, 53, -3,
     "__io_uring_register, io_uring_register_get_file, syscall_exit_to_user_mode"},
    {P::sqe_submit, -16, -18, 1, "io_submit_sqes, io_issue_sqe (6.18: and __io_issue_sqe)"},
    {P::request_complete, 5, -20, -19,
     "__io_submit_flush_completions (6.1: __io_fill_cqe_req, io_free_batch_list)"},
    {P::nop_issue, -38, -28, -7, "io_nop, io_nop_prep: flags, result and file of a NOP are newer"},
    {P::msg_ring_issue, -49, -5, -20,
     "io_msg_ring, __io_fixed_fd_install, io_fill_cqe_aux, io_post_aux_cqe, fget, fput"},
    {P::msg_data_issue, -61, -25, -20, "io_msg_ring, __io_msg_ring_data, io_fill_cqe_aux"},
    {P::files_update_call, 13, 0, 0, "__io_sqe_files_update, io_files_update"},
    {P::fixed_file_remove, 19, 5, 1, "__io_sqe_files_update, one entry; _copy_from_user"},
    {P::table_walk_slot, 13, 7, 0,
     "io_sqe_files_register, one slot: 13 more; 6.12 clears the pages of tags by memset, 12 a "
     "line"},
    {P::rsrc_removal_queue, 51, 0, 0,
     "io_queue_rsrc_removal, __list_add_valid, io_rsrc_put_work of 6.1, against what 6.12 does"},
    {P::slub_alloc_fast, 0, 0, -6, "__kmalloc_noprof"},
}};

} // namespace

std::span<const CodeLength> code_length_table() {
    return table;
}

std::int32_t code_difference(const Design& design, Primitive primitive) {
    const auto* const row = std::ranges::find(table, primitive, &CodeLength::primitive);
    if (row == table.end()) {
        return 0;
    }
    switch (design.kernel_code) {
    case KernelCode::v6_1:
        return row->v6_1;
    case KernelCode::v6_12:
        return row->v6_12;
    case KernelCode::v6_16:
        return row->v6_16;
    case KernelCode::v6_18:
        break;
    }
    return 0;
}

sim::Millicycles cost_under(const Machine& machine, const Design& design, Primitive primitive) {
    const sim::Millicycles cost = machine.cost(primitive).millicycles;
    if (!machine.instructions) {
        return cost;
    }
    const sim::Millicycles longer = code_difference(design, primitive) * sim::millicycles_per_cycle;
    return std::max<sim::Millicycles>(cost + longer, 0);
}

} // namespace uringsim::models
