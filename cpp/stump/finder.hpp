// The best stump of a prepared table, for rows that count anew every round.
#pragma once

#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "grow/kernels.hpp"
#include "parallel/team.hpp"
#include "stump/kernels.hpp"
#include "stump/rules.hpp"
#include "stump/scan.hpp"
#include "stump/stump.hpp"
#include "stump/table.hpp"

namespace bosquet {

// What the integers are worth.
struct StumpScale {
    double response = 1;  // a unit of response
    double weight = 1;    // a unit of weight
    double squares = 0;   // squared error only: the sum of w y^2
};

struct StumpFinding {
    Stump stump;
    StumpSums left, right;  // of either side; a constant has all rows on its left
};

// The stump's merit, gain and values, from the sums of its sides.
void judge(StumpCriterion criterion, const StumpScale& scale, std::size_t rows,
           StumpFinding& finding);

// What a search is told of each row.
enum class RowKind {
    responses,  // the signed weight alone
    signs,      // the same, where the rule asks for weights too: they are the magnitudes
    pairs,      // weight times target, and weight
};

class StumpFinder {
  public:
    // Rows are taken in runs so short that what was written of a run is in the first-level cache
    // when it is added up.
    static constexpr std::size_t kRunRows = 1024;

    StumpFinder(const StumpTable& table, Isa isa, Team& team);

    // One pass over all rows, in runs and on all threads. fill(range, response, weight, worker)
    // writes what each row of the run counts for and returns the sums; `weight` is there for pairs
    // only.
    template <class Fill>
    void sweep(RowKind kind, Fill fill);

    // The best stump for the rows of the last sweep. Of equal ones the constant comes first, then
    // the lowest feature, the lowest threshold, and missing values on the right.
    StumpFinding best(StumpCriterion criterion, const StumpScale& scale);

    StumpSums total() const { return total_; }

  private:
    // What one thread has added up.
    struct Share {
        Buffer<std::int64_t> response, weight;          // by bin
        Buffer<std::int64_t> run_response, run_weight;  // of the run at hand
        StumpSums total;
        bool used = false;
    };

    void prepare(RowKind kind);
    void open(Share& share);
    void add_run(Range range, const std::int64_t* response, const std::int64_t* weight,
                 Share& share);
    void merge();
    BinSums bin_sums(std::uint32_t feature) const;
    template <class Rule>
    StumpFinding find(const Rule& rule);

    const StumpTable& table_;
    const GrowKernels& grow_kernels_;
    const StumpKernels& kernels_;
    Team& team_;
    std::vector<Share> shares_;
    Buffer<std::int64_t> response_, weight_;  // by row, for columns that are kept in order
    RowKind kind_ = RowKind::responses;
    std::size_t merged_ = 0;  // the share in which all others are added up
    StumpSums total_;
};

template <class Fill>
void StumpFinder::sweep(RowKind kind, Fill fill) {
    prepare(kind);
    bool keeps_rows = !table_.ordered().empty();
    team_.run(block_count(table_.rows()), [&](std::size_t index, int worker) {
        Share& share = shares_[worker];
        if (!share.used) open(share);
        Range rows = block(table_.rows(), index);
        for (std::size_t begin = rows.begin; begin < rows.end; begin += kRunRows) {
            Range run{begin, std::min(begin + kRunRows, rows.end)};
            auto room = [&](Buffer<std::int64_t>& by_row, Buffer<std::int64_t>& of_run) {
                return keeps_rows ? by_row.data() + begin : of_run.data();
            };
            std::int64_t* response = room(response_, share.run_response);
            std::int64_t* weight =
                kind == RowKind::pairs ? room(weight_, share.run_weight) : nullptr;
            share.total = share.total + fill(run, response, weight, worker);
            add_run(run, response, weight, share);
        }
    });
    merge();
}

}  // namespace bosquet
