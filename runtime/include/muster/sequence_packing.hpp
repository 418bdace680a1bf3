#pragma once

#include <muster/dataset.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace muster {

/// Puts sequences into as few rows of `capacity` as best-fit decreasing does (never over 11/9 of
/// the fewest possible and one; D. S. Johnson, 1973): a row is the numbers of its sequences,
/// ascending. The same lengths give the same rows everywhere. Time n log n. Throws ConfigError for
/// a length under 1 or over capacity.
std::vector<std::vector<std::int64_t>> pack_sequences(std::span<const std::int64_t> lengths,
                                                      std::int64_t capacity);

/// Lengths of the documents in tokens [n] (dtypes as in TokenDataset), each of which ends with
/// `separator`, or begins with it. What comes before the first or after the last is one, too.
enum class Separator { ends, begins };
std::vector<std::int64_t> document_lengths(const at::Tensor& tokens, std::int64_t separator,
                                           Separator place = Separator::ends);

struct PackedDatasetOptions {
  std::int64_t length;             ///< Tokens of a row.
  std::int64_t padding_token = 0;  ///< What fills the rest of a row.
};

/// Documents of any length, several to a row, for a model that predicts the next token: as little
/// padding as can be, and no document reads another.
///
/// A batch is that of `rows` indices, all int64:
/// - data["tokens"] [rows, length]
/// - data["positions"] [rows, length]: 0, 1, ... in each document, for the position embedding
/// - data["documents"] [rows, length]: 0, 1, ... in each row, -1 where it is padding; see
///   document_mask()
/// - target [rows, length]: the document's next token, -100 (what cross_entropy passes over) for
///   padding
///
/// A document of n tokens takes n - 1 places, one for each token that can be predicted; one that is
/// too long for a row is cut so that each of them is still predicted once. Documents of fewer than
/// two tokens have nothing to predict and are left out. Rows are the same in every epoch; the
/// DataLoader shuffles them. Rows differ in what they hold, so weigh the loss:
/// backward(loss_sum, (target != -100).sum()). Any thread may read it.
class PackedDataset {
 public:
  /// tokens: [n], dtypes as in TokenDataset; kept, not copied. lengths: of the documents, one after
  /// the other. Throws ConfigError if they are not n in all, and if nothing can be predicted.
  PackedDataset(at::Tensor tokens, const std::vector<std::int64_t>& lengths,
                const PackedDatasetOptions& options);

  using Batch = Example<std::map<std::string, at::Tensor>, at::Tensor>;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(rows_.size()); }
  Batch get_batch(const std::vector<std::int64_t>& indices) const;
  /// The share of all places that is no padding, 0 to 1.
  double filled() const noexcept;

 private:
  /// What lies in one place of a row.
  struct Piece {
    std::int64_t begin;     ///< Its first token.
    std::int64_t places;    ///< One token more is read, as the last target.
    std::int64_t position;  ///< Of its first token in the document.
  };

  at::Tensor tokens_;
  PackedDatasetOptions options_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<std::int64_t>> rows_;  ///< Numbers of pieces.
};

/// For scaled_dot_product_attention: [rows, 1, length, length] bool, true where a place (the last
/// but one dimension) may look at another (the last): one of its own document, itself or before it.
/// Padding looks at padding, so that no row of it is empty. documents: [rows, length].
at::Tensor document_mask(const at::Tensor& documents);

}  // namespace muster
