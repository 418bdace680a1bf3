#pragma once

#include <random>
#include <string>
#include <vector>

namespace muster::fuzz {

/// Inputs near those of a corpus, the same ones for the same seed.
class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, unsigned long seed)
      : corpus_(std::move(corpus)), random_(seed) {}

  std::string next();

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  const std::string& any() { return corpus_[below(corpus_.size())]; }
  std::string piece(const std::string& text);
  void change(std::string& text);

  std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace muster::fuzz
