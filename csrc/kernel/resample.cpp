// The sparse matrices of Note [Separable maps].
#include "kernel/resample.h"

#include <algorithm>

namespace fb::kernel {

void AxisMapMaker::add(int64_t index, double weight) {
  if (terms_.size() > starts_.back() && terms_.back().index == index)
    terms_.back().weight += weight;
  else
    terms_.push_back({static_cast<int32_t>(index), weight});
}

AxisMap AxisMapMaker::finish() const {
  const auto out = static_cast<int64_t>(starts_.size());
  AxisMap map;
  map.in = in_;
  map.out = out;
  map.count.resize(starts_.size());
  map.terms = 0;
  map.least = in_ * out + 1;
  map.identity = in_ == out;
  for (size_t o = 0; o < starts_.size(); ++o) {
    const size_t end = o + 1 < starts_.size() ? starts_[o + 1] : terms_.size();
    const auto count = static_cast<int64_t>(end - starts_[o]);
    map.count[o] = static_cast<int32_t>(count);
    map.terms = std::max(map.terms, count);
    map.least = std::min(map.least, count);
    map.identity &= count == 1 && terms_[starts_[o]].index == static_cast<int32_t>(o) &&
                    terms_[starts_[o]].weight == 1;
  }
  map.index.assign(static_cast<size_t>(map.terms * out), 0);
  map.weight.assign(static_cast<size_t>(map.terms * out), 0);
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < map.count[o]; ++k) {
      const Term& term = terms_[starts_[o] + static_cast<size_t>(k)];
      map.index[k * out + o] = term.index;
      map.weight[k * out + o] = term.weight;
    }
  return map;
}

AxisMap identity_map(int64_t size) {
  AxisMapMaker maker(size);
  for (int64_t i = 0; i < size; ++i) {
    maker.begin_row();
    maker.add(i, 1);
  }
  return maker.finish();
}

AxisMap transposed(const AxisMap& map) {
  struct Entry {
    int64_t row;
    double weight;
  };
  std::vector<std::vector<Entry>> rows(static_cast<size_t>(map.in));
  for (int64_t o = 0; o < map.out; ++o)
    for (int64_t k = 0; k < map.count[o]; ++k)
      rows[map.index[k * map.out + o]].push_back({o, map.weight[k * map.out + o]});
  AxisMapMaker maker(map.out);
  for (const auto& row : rows) {
    maker.begin_row();
    for (const Entry& entry : row) maker.add(entry.row, entry.weight);
  }
  return maker.finish();
}

}  // namespace fb::kernel
