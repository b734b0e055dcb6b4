// Finds the best stump of a prepared table, for weights that change every round.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "grow/kernels.hpp"
#include "parallel/team.hpp"
#include "stump/criteria.hpp"
#include "stump/kernels.hpp"
#include "stump/scan.hpp"
#include "stump/stump.hpp"
#include "stump/table.hpp"

namespace bosquet {

// The values of the integer units.
struct StumpScale {
    double response = 1;  // value of one unit of response
    double weight = 1;    // value of one unit of weight
    double squares = 0;   // squared error only: the sum of w y^2
};

struct StumpFinding {
    Stump stump;
    StumpSums left, right;  // sums of the two sides; a constant has all rows on its left
};

// Computes criterion value, gain and values of the stump from the sums of its sides.
void evaluate_stump(StumpCriterion criterion, const StumpScale& scale, std::size_t rows,
                    StumpFinding& finding);

class StumpFinder {
  public:
    StumpFinder(const StumpTable& table, Isa isa, Team& team);

    // Sums all rows from scratch, in runs and on all threads. fill(range, response, weight, worker)
    // writes the response of each row of the run and returns the sums. With `own_weights` it also
    // writes the weights. Otherwise `weight` is nullptr, and the weight of a row is the absolute
    // value of its response.
    template <class Fill>
    void sum_all_rows(StumpCriterion criterion, bool own_weights, Fill fill);

    // The same for rows without own weights if only some rows have changed. change(range, response,
    // response_changes, changed, worker) writes the responses, their changes and the rows that
    // changed. It returns the changes of the sums.
    template <class Change>
    void update(Change change);

    // Returns the best stump for the current sums. Among equal ones the constant comes first, then
    // the lowest feature, the lowest threshold, and missing values on the right.
    StumpFinding find_best(StumpCriterion criterion, const StumpScale& scale);

    StumpSums total() const { return total_; }

  private:
    // What is stored per bin: signed weights in one sum; positive and negative weights separately,
    // which also gives the total weight; or positive and negative responses separately, plus
    // weights.
    enum class BinContent { signed_weights, by_sign, with_weights };

    // The sums of one thread. Those of the other threads are finally added to those of the first.
    struct ThreadSums {
        Buffer<std::int64_t> sums[3];                             // by bin
        Buffer<std::int64_t> response, weight, response_changes;  // of the current run
        RowsBySign rows;
        StumpSums total;
        bool used = false;
    };

    void prepare_sums(StumpCriterion criterion, bool own_weights);
    ThreadSums& open_thread_sums(int worker, bool restart);
    template <class Work>
    void for_each_run(bool restart, Work work);
    void add_all_rows(Range range, const std::int64_t* values, std::int64_t* sums);
    void add_listed_rows(Range range, const std::uint32_t* rows, std::size_t count,
                         const std::int64_t* values, std::int64_t* sums);
    void add_by_sign(Range range, const std::int64_t* values, ThreadSums& sums_of_thread);
    void merge_thread_sums();
    std::int64_t* storage_of_run(Buffer<std::int64_t>& all_rows, Buffer<std::int64_t>& run_buffer,
                                 std::size_t begin) {
        return table_.ordered().empty() ? run_buffer.data() : all_rows.data() + begin;
    }

    void read_bins(std::uint32_t feature, std::vector<BinSums>& bins) const;
    template <class Criterion>
    StumpFinding find_best(const Criterion& criterion);
    template <class Criterion>
    void search_bins(const Criterion& criterion, std::vector<FoundSplit<Criterion>>& splits);
    template <class Criterion>
    void search_rows(const Criterion& criterion, std::vector<FoundSplit<Criterion>>& splits);

    const StumpTable& table_;
    const GrowKernels& grow_kernels_;
    Team& team_;
    std::vector<std::unique_ptr<ThreadSums>> thread_sums_;
    Buffer<std::int64_t> response_, weight_;  // by row, for columns that are stored in order
    BinContent content_ = BinContent::signed_weights;
    StumpSums total_;
};

template <class Work>
void StumpFinder::for_each_run(bool restart, Work work) {
    open_thread_sums(0, restart);
    team_.run(block_count(table_.rows()), [&](std::size_t index, int worker) {
        ThreadSums& sums_of_thread = open_thread_sums(worker, restart);
        Range rows = block_range(table_.rows(), index);
        for (std::size_t begin = rows.begin; begin < rows.end; begin += kRunRows)
            work(Range{begin, std::min(begin + kRunRows, rows.end)}, sums_of_thread, worker);
    });
    merge_thread_sums();
}

template <class Fill>
void StumpFinder::sum_all_rows(StumpCriterion criterion, bool own_weights, Fill fill) {
    prepare_sums(criterion, own_weights);
    for_each_run(true, [&](Range run, ThreadSums& sums_of_thread, int worker) {
        std::int64_t* response = storage_of_run(response_, sums_of_thread.response, run.begin);
        std::int64_t* weight = content_ == BinContent::with_weights
                                   ? storage_of_run(weight_, sums_of_thread.weight, run.begin)
                                   : nullptr;
        sums_of_thread.total = sums_of_thread.total + fill(run, response, weight, worker);
        if (content_ == BinContent::signed_weights)
            add_all_rows(run, response, sums_of_thread.sums[0].data());
        else
            add_by_sign(run, response, sums_of_thread);
        if (content_ == BinContent::with_weights)
            add_all_rows(run, weight, sums_of_thread.sums[2].data());
    });
}

template <class Change>
void StumpFinder::update(Change change) {
    for_each_run(false, [&](Range run, ThreadSums& sums_of_thread, int worker) {
        std::int64_t* response = storage_of_run(response_, sums_of_thread.response, run.begin);
        std::int64_t* response_changes = sums_of_thread.response_changes.data();
        sums_of_thread.total = sums_of_thread.total +
                               change(run, response, response_changes, sums_of_thread.rows, worker);
        for (int negative = 0; negative < 2; ++negative)
            add_listed_rows(
                run, sums_of_thread.rows.rows[negative], sums_of_thread.rows.count[negative],
                response_changes,
                sums_of_thread.sums[content_ == BinContent::signed_weights ? 0 : negative].data());
    });
}

}  // namespace bosquet
