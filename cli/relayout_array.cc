#include "cli/relayout_array.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/literal/npy.h"

namespace kashi::cli {

using base::DefaultMemoryLimit;
using base::PageBuffer;
using base::WithThousands;
namespace {

struct FileBytes {
  PageBuffer memory;
  int64_t size = 0;

  absl::string_view text() const { return {memory.data(), static_cast<size_t>(size)}; }
};

absl::Status Prefix(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

absl::Status Grow(FileBytes* bytes, int64_t capacity, int64_t memory_limit) {
  KASHI_RETURN_IF_ERROR(CheckMemory(static_cast<double>(capacity), memory_limit));
  KASHI_ASSIGN_OR_RETURN(PageBuffer larger, PageBuffer::Make(capacity));
  if (bytes->size > 0) std::memcpy(larger.data(), bytes->memory.data(), bytes->size);
  bytes->memory = std::move(larger);
  return absl::OkStatus();
}

// The limits of reading a file.
struct ReadLimits {
  int64_t memory;            // most bytes of memory
  int64_t most = INT64_MAX;  // most bytes of the file: a pipe may have no end
};

// `expected_size` is a guess: the size of a pipe is unknown.
absl::StatusOr<FileBytes> ReadAll(int descriptor, int64_t expected_size, const ReadLimits& limits) {
  FileBytes bytes;
  KASHI_RETURN_IF_ERROR(Grow(&bytes, expected_size + 1, limits.memory));  // one byte more, to see the end
  while (true) {
    if (bytes.size > limits.most) {
      return InvalidArgument("the file has more than the %s bytes of the array", WithThousands(limits.most));
    }
    if (bytes.size == bytes.memory.size()) KASHI_RETURN_IF_ERROR(Grow(&bytes, 2 * bytes.size, limits.memory));
    const ssize_t got = read(descriptor, bytes.memory.data() + bytes.size, bytes.memory.size() - bytes.size);
    if (got == 0) return bytes;
    if (got > 0) bytes.size += got;
    if (got < 0 && errno != EINTR) return Unknown("cannot read: %s", std::strerror(errno));
  }
}

absl::StatusOr<FileBytes> NameInput(const std::string& name, absl::StatusOr<FileBytes> bytes) {
  if (!bytes.ok()) return Prefix(name, bytes.status());
  return bytes;
}

// Errors begin with the name of the file.
absl::StatusOr<FileBytes> ReadBytes(const std::string& path, const ReadLimits& limits) {
  constexpr int64_t kFirstBytes = 1 << 20;
  if (path == "-") return NameInput("<stdin>", ReadAll(STDIN_FILENO, kFirstBytes, limits));
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Unknown("cannot read %s: %s", path, std::strerror(errno));
  struct stat info;
  const bool is_known = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  // A regular file is read as a whole even if it is too large, so that the error can give its size.
  const ReadLimits own = is_known ? ReadLimits{limits.memory} : limits;
  absl::StatusOr<FileBytes> bytes =
      NameInput(path, ReadAll(descriptor, is_known ? int64_t{info.st_size} : kFirstBytes, own));
  close(descriptor);
  return bytes;
}

// The most bytes of a file with the array, raw or as .npy.
int64_t MostBytesOf(const RelayoutSide& side) {
  constexpr int64_t kMostHeaderBytes = 1 << 17;  // of .npy
  const absl::StatusOr<Placement> placement = side.ToPlacement();
  if (!placement.ok()) return INT64_MAX;
  const double npy = static_cast<double>(placement->map().element_count()) *
                     static_cast<double>(primitive_util::ByteWidth(side.shape.element_type()));
  const double most = std::max(npy, static_cast<double>(placement->map().byte_size()));
  return most > 1e18 ? INT64_MAX : static_cast<int64_t>(most) + kMostHeaderBytes;
}

bool IsNpy(absl::string_view bytes) { return absl::StartsWith(bytes, "\x93NUMPY"); }

// Whether the elements are contiguous and each has its own bytes.
bool IsPlain(const Layout& layout, PrimitiveType type) {
  const int64_t bits = layout.element_size_in_bits();
  return layout.tiles().empty() && (bits == 0 || bits == 8 * primitive_util::ByteWidth(type)) &&
         layout.dynamic_shape_metadata_prefix_bytes() <= 0 && layout.tail_padding_alignment_in_elements() == 1;
}

// The layout on the command line must be that of the .npy file.
absl::Status CheckLayout(const Shape& written, const Shape& file) {
  if (!written.has_layout()) return absl::OkStatus();
  if (IsPlain(written.layout(), written.element_type()) &&
      Layout::Equal().MinorToMajorOnly()(written.layout(), file.layout())) {
    return absl::OkStatus();
  }
  return InvalidArgument("an .npy file with the layout of %s, not of %s", file.ToString(/*print_layout=*/true),
                         written.ToString(/*print_layout=*/true));
}

// Reads the elements as the first of these types that fits; nullopt is the type of the header. Returns the first error
// if none fits.
absl::StatusOr<NpyElements> FindAsOneOf(absl::string_view bytes,
                                        const std::vector<std::optional<PrimitiveType>>& types) {
  KASHI_ASSIGN_OR_RETURN(const DimensionVector sizes, ReadNpySizes(bytes));
  absl::Status first_error;
  for (const std::optional<PrimitiveType>& type : types) {
    absl::StatusOr<NpyElements> found =
        type.has_value() ? FindNpyElements(bytes, Shape(*type, sizes)) : FindNpyElements(bytes);
    if (found.ok()) return found;
    first_error.Update(found.status());
  }
  return first_error;
}

absl::StatusOr<NpyElements> FindElements(absl::string_view bytes, const std::optional<RelayoutSide>& from,
                                         const std::optional<RelayoutSide>& to, bool numbers) {
  if (from.has_value()) {
    KASHI_ASSIGN_OR_RETURN(NpyElements found,
                           FindNpyElements(bytes, Shape(from->shape.element_type(), from->shape.dimensions())));
    KASHI_RETURN_IF_ERROR(CheckLayout(from->shape, found.shape));
    return found;
  }
  if (!to.has_value()) return FindNpyElements(bytes);
  const std::optional<PrimitiveType> type = to->shape.element_type();
  if (numbers) return FindAsOneOf(bytes, {std::nullopt, type});
  return FindAsOneOf(bytes, {type, std::nullopt});
}

absl::StatusOr<Placement> PlacementOf(const NpyElements& elements, const std::optional<RelayoutSide>& side) {
  RelayoutSide in_file;
  if (side.has_value()) in_file = *side;
  in_file.shape = elements.shape;
  return in_file.ToPlacement();
}

// Elements of these types may have unused bits.
bool NeedsCleaning(PrimitiveType type) { return type == PRED || primitive_util::IsSubByteNonPredType(type); }

absl::StatusOr<ArrayFile> ReadNpySource(FileBytes bytes, const std::optional<RelayoutSide>& from,
                                        const std::optional<RelayoutSide>& to, bool numbers) {
  KASHI_ASSIGN_OR_RETURN(const NpyElements elements, FindElements(bytes.text(), from, to, numbers));
  KASHI_ASSIGN_OR_RETURN(Placement placement, PlacementOf(elements, from));
  if (!elements.is_big_endian && !NeedsCleaning(elements.shape.element_type())) {
    const int64_t header_bytes = elements.bytes.data() - bytes.memory.data();
    return ArrayFile{std::move(placement), std::move(bytes.memory), header_bytes, bytes.size};
  }
  KASHI_ASSIGN_OR_RETURN(const Literal literal, ReadNpy(bytes.text(), elements.shape));
  KASHI_ASSIGN_OR_RETURN(PageBuffer memory, PageBuffer::Make(literal.size_bytes()));
  if (!memory.empty()) std::memcpy(memory.data(), literal.untyped_data(), memory.size());
  const int64_t size = memory.size();
  return ArrayFile{std::move(placement), std::move(memory), 0, size};
}

absl::StatusOr<ArrayFile> RawArray(FileBytes bytes, const RelayoutSide& side) {
  absl::StatusOr<Placement> placement = side.ToPlacement();
  if (!placement.ok()) return placement.status();
  const int64_t wanted = placement->map().byte_size();
  if (bytes.size != wanted) {
    return InvalidArgument("the file has %s bytes, but %s has %s", WithThousands(bytes.size),
                           placement->shape().ToString(/*print_layout=*/true), WithThousands(wanted));
  }
  return ArrayFile{*std::move(placement), std::move(bytes.memory), 0, bytes.size};
}

absl::StatusOr<ArrayFile> NpyTarget(FileBytes bytes, const RelayoutSide& to) {
  KASHI_ASSIGN_OR_RETURN(const NpyElements elements,
                         FindNpyElements(bytes.text(), Shape(to.shape.element_type(), to.shape.dimensions())));
  KASHI_RETURN_IF_ERROR(CheckLayout(to.shape, elements.shape));
  if (elements.is_big_endian) return InvalidArgument("the byte order is not that of this machine");
  KASHI_ASSIGN_OR_RETURN(Placement placement, PlacementOf(elements, to));
  const int64_t header_bytes = elements.bytes.data() - bytes.memory.data();
  return ArrayFile{std::move(placement), std::move(bytes.memory), header_bytes, bytes.size};
}

}  // namespace

absl::Status CheckMemory(double bytes, int64_t memory_limit) {
  const int64_t limit = memory_limit > 0 ? memory_limit : DefaultMemoryLimit();
  if (bytes <= static_cast<double>(limit)) return absl::OkStatus();
  return ResourceExhausted("this needs %.0f bytes of memory, more than the limit of %d (--memory-limit sets the limit)",
                           bytes, limit);
}

absl::StatusOr<ArrayFile> ReadSourceFile(const std::string& path, const std::optional<RelayoutSide>& from,
                                         const std::optional<RelayoutSide>& to, bool numbers, int64_t memory_limit) {
  const std::string name = path == "-" ? "<stdin>" : path;
  KASHI_ASSIGN_OR_RETURN(FileBytes bytes,
                         ReadBytes(path, {memory_limit, from.has_value() ? MostBytesOf(*from) : INT64_MAX}));
  absl::StatusOr<ArrayFile> array = InvalidArgument("the file is raw bytes: give their shape and layout with --from");
  if (IsNpy(bytes.text())) {
    array = ReadNpySource(std::move(bytes), from, to, numbers);
  } else if (from.has_value()) {
    array = RawArray(std::move(bytes), *from);
  }
  if (!array.ok()) return Prefix(name, array.status());
  return array;
}

absl::StatusOr<ArrayFile> ReadTargetFile(const std::string& path, const RelayoutSide& to, int64_t memory_limit) {
  KASHI_ASSIGN_OR_RETURN(FileBytes bytes, ReadBytes(path, {memory_limit}));
  absl::StatusOr<ArrayFile> array =
      IsNpy(bytes.text()) ? NpyTarget(std::move(bytes), to) : RawArray(std::move(bytes), to);
  if (!array.ok()) return Prefix(path, array.status());
  return array;
}

absl::StatusOr<ArrayFile> MakeTargetFile(const Placement& to, bool is_npy) {
  std::string header;
  if (is_npy) {
    const absl::Status status = WriteNpyHeader(to.shape(), &header);
    if (!status.ok() || !IsPlain(to.shape().layout(), to.element_type())) {
      return InvalidArgument(
          "an .npy file is row-major or column-major, but %s is not: leave out --to, or write raw bytes",
          to.shape().ToString(/*print_layout=*/true));
    }
  }
  const int64_t header_bytes = static_cast<int64_t>(header.size());
  const int64_t bytes = header_bytes + to.map().byte_size();
  KASHI_ASSIGN_OR_RETURN(PageBuffer memory, PageBuffer::Make(bytes));
  if (is_npy) std::memcpy(memory.data(), header.data(), header.size());
  return ArrayFile{to, std::move(memory), header_bytes, bytes};
}

}  // namespace kashi::cli
