// The walk of chains/taut_string.hpp along several chains at a time, one in each lane of a vector.
// chains/lanes.hpp includes this file for each width.
//
// Same arithmetic, same result, bit for bit. No branch depends on the data except the rare ones: a
// withdrawn guess, the end of a chain.

namespace submin::SUBMIN_WIDTH {

class TautLanes {
 public:
  // `parking` is a node where idle lanes stay. Withdrawn pieces stay in the log: twice as many
  // places as nodes are ample.
  TautLanes(const Node* nodes, const std::vector<Chain>& chains, std::int64_t parking,
            PieceLog& log)
      : nodes_(nodes), chains_(chains), parking_(parking), log_(log) {}

  // Returns the number of pieces in the log; `unfinished` are the chains for which the budget did
  // not suffice.
  SUBMIN_TARGET std::int64_t run(std::vector<std::int64_t>& unfinished) {
    for (const Chain& chain : chains_) budget_ += kStepsPerNode * chain.length;
    budget_ = budget_ / kLanes + 1;
    for (int lane = 0; lane < kLanes; ++lane) start(lane);
    walk();
    unfinished = late_;
    for (int lane = 0; lane < kLanes; ++lane)
      if (chain_[lane] >= 0) unfinished.push_back(chain_[lane]);
    for (auto chain = next_; chain < static_cast<std::int64_t>(chains_.size()); ++chain)
      unfinished.push_back(chain);
    return count_;
  }

 private:
  // Nodes are numbers from here on, so that their low bits are the node. -1 is before the first.
  static constexpr double kZero = 4503599627370496.0;  // 2^52
  static constexpr std::uint64_t kZeroBits = 0x4330000000000000;

  struct State {
    Value node;             // the next to look at
    Value withdrawn, last;  // up to here no guess is taken; the node behind the chain
    Value tag;              // takes the node behind a piece to its code
    Value sum, run;         // from the apex
    Value stride;           // 0 in idle lanes
    Value low_rise, low_run, high_rise, high_run;  // the slopes that the gates demand, and what
    Value low_sum, low_next, high_sum, high_next;  // comes behind: the sum there, and the node
    Value old_rise, old_run, tail;                 // the last piece, and its place in the log
  };

  SUBMIN_TARGET void walk() {
    const Value zero = broadcast(0.0), one = broadcast(1.0), infinity = broadcast(kInfinity);
    State v;
    v.run = v.low_run = v.high_run = one;
    v.low_sum = v.high_sum = zero;
    v.high_rise = infinity;
    v.low_rise = -infinity;
    reload(v);
    v.low_next = v.high_next = v.node;
    const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(nodes_) - (kZeroBits << 5);
    double *rises = log_.rises.get(), *runs = log_.runs.get(), *codes = log_.codes.get(),
           *previous = log_.previous.get();
    std::int64_t count = 0, budget = budget_;
    const std::int64_t full = log_.size() - kLanes;  // vectors are stored whole
    while (active_ > 0 && --budget > 0 && count <= full) {
      alignas(64) std::uint64_t offset[kLanes];
      node_offsets(v.node, offset);
      const NodeLanes at = load_nodes([&](int lane) SUBMIN_INLINE {
        return reinterpret_cast<const Node*>(base + offset[lane]);
      });
      const Value up = at.forward - at.flow, down = at.backward + at.flow;
      const Mask up_shut = equal(at.forward, at.flow), down_shut = equal(-at.backward, at.flow);
      const Mask fixed = up_shut & down_shut, shut = up_shut | down_shut;
      const Mask guess = fixed | (shut & less(v.withdrawn, v.node));
      const Value next = v.node + v.stride;
      v.sum = v.sum + at.value;
      const Value top = add_except(guess, v.sum, up), bottom = subtract_except(guess, v.sum, down);
      const Value low_limit = v.low_rise * v.run, high_limit = v.high_rise * v.run;
      const Value top_low = top * v.low_run, top_high = top * v.high_run;
      const Value bottom_low = bottom * v.low_run, bottom_high = bottom * v.high_run;
      const Mask below = less(top_low, low_limit);
      const Mask bent = below | less(high_limit, bottom_high);
      const Mask found = bent | guess;
      const Mask lower = below | except(guess & down_shut, bent | up_shut);

      // A taken guess is both bounds. Those of a bent lane that do not matter any more may become
      // anything.
      const Mask tighter = not_greater(top_high, high_limit);
      const Mask steeper = not_less(bottom_low, low_limit);
      v.high_rise = select(tighter, top, v.high_rise);
      v.high_run = select(tighter, v.run, v.high_run);
      v.high_sum = select(tighter, zero - up, v.high_sum);
      v.high_next = select(tighter, next, v.high_next);
      v.low_rise = select(steeper, bottom, v.low_rise);
      v.low_run = select(steeper, v.run, v.low_run);
      v.low_sum = select(steeper, down, v.low_sum);
      v.low_next = select(steeper, next, v.low_next);

      const Value rise = select(lower, v.low_rise, v.high_rise);
      const Value run = select(lower, v.low_run, v.high_run);
      const Value touched = select(lower, v.low_next, v.high_next);
      v.node = select(found, touched, next);
      const Mask wrong = found & less(rise * v.old_run, v.old_rise * run);
      const Mask right = except(found, wrong);
      const Value signed_rise = negate_in(lower, rise), signed_run = negate_in(lower, run);
      const Packing packing(right);
      packing.store(rises + count, signed_rise);
      packing.store(runs + count, signed_run);
      packing.store(codes + count, touched + v.tag);
      packing.store(previous + count, v.tail);
      v.tail = packing.number(v.tail, static_cast<double>(count));
      count += packing.count();

      v.old_rise = select(found, signed_rise, v.old_rise);
      v.old_run = select(found, signed_run, v.old_run);
      v.sum = select(found, select(lower, v.low_sum, v.high_sum), v.sum);
      v.high_rise = select(found, infinity, v.high_rise);
      v.low_rise = select(found, -infinity, v.low_rise);
      v.run = select(found, one, v.run + v.stride);
      const Mask loose = except(fixed, bent);
      if (__builtin_expect(none(wrong, loose), 1)) continue;

      v.old_run = select(loose, zero, v.old_run);
      v.old_rise = select(loose, zero, v.old_rise);
      const Mask done = right & equal(touched, v.last);
      if (none(wrong, done)) continue;
      count_ = count;
      budget_ = budget;
      store_lanes(v);
      attend(bits(wrong), bits(done));
      reload(v);
    }
    count_ = count;
  }

  SUBMIN_TARGET SUBMIN_INLINE void store_lanes(const State& v) {
    store(node_, v.node);
    store(sum_, v.sum);
    store(old_rise_, v.old_rise);
    store(old_run_, v.old_run);
    store(tail_, v.tail);
  }

  SUBMIN_TARGET SUBMIN_INLINE void reload(State& v) {
    v.node = load(node_);
    v.last = load(last_);
    v.stride = load(stride_);
    v.tag = load(tag_);
    v.withdrawn = load(withdrawn_);
    v.sum = load(sum_);
    v.old_rise = load(old_rise_);
    v.old_run = load(old_run_);
    v.tail = load(tail_);
  }

  // Takes back the guess at a lane's apex, or gives the lane its next chain.
  __attribute__((noinline)) void attend(unsigned wrong, unsigned done) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (done >> lane & 1) {
        finish(lane);
        start(lane);
      } else if (wrong >> lane & 1) {
        withdraw(lane);
      }
    }
  }

  // A chain that took more steps than the walk of chains/taut_string.hpp grants does not count.
  void finish(int lane) {
    --active_;
    const std::int64_t chain = chain_[lane];
    if (started_[lane] - budget_ > kStepsPerNode * chains_[chain].length) late_.push_back(chain);
  }

  void withdraw(int lane) {
    const std::int64_t chain = chain_[lane];
    std::int64_t k = static_cast<std::int64_t>(tail_[lane]);
    withdrawn_[lane] = std::max(withdrawn_[lane], kZero + static_cast<double>(log_.end(k)));
    log_.codes[k] = PieceLog::kRemoved;
    k = log_.before(k);
    tail_[lane] = static_cast<double>(k);
    if (k < 0) return restart(lane, chains_[chain].begin - 1);
    restart(lane, log_.end(k));
    const Node& apex = nodes_[log_.end(k)];
    const double up = apex.forward - apex.flow, down = apex.backward + apex.flow;
    sum_[lane] = log_.runs[k] < 0 ? down : 0 - up;
    if (up == 0 && down == 0) return;
    old_rise_[lane] = log_.rises[k];
    old_run_[lane] = log_.runs[k];
  }

  void start(int lane) {
    if (next_ == static_cast<std::int64_t>(chains_.size())) {
      restart(lane, parking_ - 1);
      last_[lane] = -2;
      tail_[lane] = -1;
      stride_[lane] = 0;
      chain_[lane] = -1;
      return;
    }
    const Chain& chain = chains_[next_];
    restart(lane, chain.begin - 1);
    last_[lane] = kZero + static_cast<double>(chain.begin + chain.length);
    withdrawn_[lane] = kZero - 1;
    tail_[lane] = -1;
    started_[lane] = budget_;
    chain_[lane] = next_;
    tag_[lane] = static_cast<double>(next_++) * PieceLog::kChainUnit - (kZero + 1);
    stride_[lane] = 1;
    ++active_;
  }

  void restart(int lane, std::int64_t apex) {
    node_[lane] = kZero + static_cast<double>(apex + 1);
    sum_[lane] = old_rise_[lane] = old_run_[lane] = 0;
  }

  alignas(64) double node_[kLanes], last_[kLanes], stride_[kLanes],
      tag_[kLanes] = {},
      withdrawn_[kLanes] = {}, sum_[kLanes], old_rise_[kLanes], old_run_[kLanes], tail_[kLanes];
  std::int64_t chain_[kLanes], started_[kLanes];  // with this budget
  const Node* nodes_;
  const std::vector<Chain>& chains_;
  std::int64_t parking_;
  PieceLog& log_;
  std::int64_t next_ = 0, count_ = 0, budget_ = 0;
  std::vector<std::int64_t> late_;
  int active_ = 0;
};

}  // namespace submin::SUBMIN_WIDTH
