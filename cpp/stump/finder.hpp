// The best stump of a prepared table, for rows that count anew every round.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
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

class StumpFinder {
  public:
    StumpFinder(const StumpTable& table, Isa isa, Team& team);

    // One pass over all rows, in runs and on all threads: the rows are added up from nothing.
    // fill(range, response, weight, worker) writes what each row of the run counts for and returns
    // the sums. Rows that have a weight of their own write it too; otherwise `weight` is null, and
    // a row's weight is the magnitude of its response.
    template <class Fill>
    void sweep(StumpCriterion criterion, bool own_weights, Fill fill);

    // The same for rows without a weight of their own, some of which count for something else now.
    // change(range, response, more, changed, worker) writes what the rows count for, by how much
    // that changed, and which rows those are; it returns by how much the sums changed.
    template <class Change>
    void update(Change change);

    // The best stump for the rows as they count now. Of equal ones the constant comes first, then
    // the lowest feature, the lowest threshold, and missing values on the right.
    StumpFinding best(StumpCriterion criterion, const StumpScale& scale);

    StumpSums total() const { return total_; }

  private:
    // What is kept by bin: signed weights in one sum; positive and negative ones apart, which gives
    // weights too; or responses, positive and negative ones apart, and weights.
    enum class Kept { together, apart, pairs };

    // What one thread has added up. The first one's holds all, once the others are added to it.
    struct Share {
        Buffer<std::int64_t> sums[3];                 // by bin
        Buffer<std::int64_t> response, weight, more;  // of the run at hand
        RowsBySign rows;
        StumpSums total;
        bool used = false;
    };

    void prepare(StumpCriterion criterion, bool own_weights);
    Share& open(int worker, bool from_nothing);
    template <class Work>
    void for_each_run(bool from_nothing, Work work);
    void add_all(Range range, const std::int64_t* values, std::int64_t* sums);
    void add_some(Range range, const std::uint32_t* rows, std::size_t count,
                  const std::int64_t* values, std::int64_t* sums);
    void add_by_sign(Range range, const std::int64_t* values, Share& share);
    void merge();
    std::int64_t* by_row(Buffer<std::int64_t>& kept, Buffer<std::int64_t>& of_run,
                         std::size_t begin) {
        return table_.ordered().empty() ? of_run.data() : kept.data() + begin;
    }

    void read_bins(std::uint32_t feature, std::vector<BinSums>& bins) const;
    template <class Rule>
    StumpFinding find(const Rule& rule);
    template <class Rule>
    void search_bins(const Rule& rule, std::vector<FoundCut<Rule>>& cuts);
    template <class Rule>
    void search_rows(const Rule& rule, std::vector<FoundCut<Rule>>& cuts);

    const StumpTable& table_;
    const GrowKernels& grow_kernels_;
    Team& team_;
    std::vector<std::unique_ptr<Share>> shares_;
    Buffer<std::int64_t> response_, weight_;  // by row, for columns that are kept in order
    Kept kept_ = Kept::together;
    StumpSums total_;
};

template <class Work>
void StumpFinder::for_each_run(bool from_nothing, Work work) {
    open(0, from_nothing);
    team_.run(block_count(table_.rows()), [&](std::size_t index, int worker) {
        Share& share = open(worker, from_nothing);
        Range rows = block(table_.rows(), index);
        for (std::size_t begin = rows.begin; begin < rows.end; begin += kRunRows)
            work(Range{begin, std::min(begin + kRunRows, rows.end)}, share, worker);
    });
    merge();
}

template <class Fill>
void StumpFinder::sweep(StumpCriterion criterion, bool own_weights, Fill fill) {
    prepare(criterion, own_weights);
    for_each_run(true, [&](Range run, Share& share, int worker) {
        std::int64_t* response = by_row(response_, share.response, run.begin);
        std::int64_t* weight =
            kept_ == Kept::pairs ? by_row(weight_, share.weight, run.begin) : nullptr;
        share.total = share.total + fill(run, response, weight, worker);
        if (kept_ == Kept::together)
            add_all(run, response, share.sums[0].data());
        else
            add_by_sign(run, response, share);
        if (kept_ == Kept::pairs) add_all(run, weight, share.sums[2].data());
    });
}

template <class Change>
void StumpFinder::update(Change change) {
    for_each_run(false, [&](Range run, Share& share, int worker) {
        std::int64_t* response = by_row(response_, share.response, run.begin);
        std::int64_t* more = share.more.data();
        share.total = share.total + change(run, response, more, share.rows, worker);
        for (int negative = 0; negative < 2; ++negative)
            add_some(run, share.rows.rows[negative], share.rows.count[negative], more,
                     share.sums[kept_ == Kept::together ? 0 : negative].data());
    });
}

}  // namespace bosquet
