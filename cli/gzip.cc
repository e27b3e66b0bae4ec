#include "cli/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::HumanBytes;

namespace {

constexpr char kGzipMagic[] = "\x1f\x8b";

// Frees the memory of zlib.
class Inflater {
 public:
  Inflater() { is_ready_ = inflateInit2(&stream_, kWindowBits) == Z_OK; }
  ~Inflater() {
    if (is_ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool is_ready() const { return is_ready_; }
  z_stream& stream() { return stream_; }

 private:
  static constexpr int kWindowBits = 15 + 16;  // the largest window, with gzip's header
  z_stream stream_ = {};
  bool is_ready_ = false;
};

}  // namespace

bool IsGzip(absl::string_view bytes) { return absl::StartsWith(bytes, kGzipMagic); }

absl::StatusOr<std::string> Gunzip(absl::string_view bytes, int64_t limit_bytes) {
  constexpr size_t kChunk = 1 << 18;
  Inflater inflater;
  if (!inflater.is_ready()) return ResourceExhausted("not enough memory to unpack the gzip file");
  z_stream& stream = inflater.stream();
  std::string unpacked;
  while (true) {
    if (stream.avail_in == 0) {
      const size_t piece = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib reads only
      stream.avail_in = static_cast<uInt>(piece);
      bytes.remove_prefix(piece);
    }
    const size_t before = unpacked.size();
    unpacked.resize(before + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(&unpacked[before]);
    stream.avail_out = static_cast<uInt>(kChunk);
    const int result = inflate(&stream, Z_NO_FLUSH);
    unpacked.resize(unpacked.size() - stream.avail_out);
    if (unpacked.size() > static_cast<uint64_t>(limit_bytes)) {
      return ResourceExhausted("the gzip file unpacks to more than %s", HumanBytes(limit_bytes));
    }
    const bool is_more = stream.avail_in > 0 || !bytes.empty();
    if (result == Z_STREAM_END) {
      if (!is_more) return unpacked;
      if (inflateReset(&stream) != Z_OK) return InvalidArgument("the gzip file is damaged");  // in a further member
    } else if (result != Z_OK) {
      const bool is_cut = result == Z_BUF_ERROR && !is_more;
      return InvalidArgument("the gzip file is %s", is_cut ? "cut off" : "damaged");
    }
  }
}

}  // namespace kashi::cli
