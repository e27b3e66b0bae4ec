// oneDNN's reorder, for bench/relayout/run.py: reads commands from standard input, answers each with a line.
//
//   problem TYPE RANK DIM… SIDE SIDE    makes buffers and the reorder; "ok", or "error" and why
//   run SECONDS                         runs for about that long; "seconds" and the median of one run
//   write PATH                          writes the target buffer to a file; "ok"
//
// TYPE is f32, bf16, s32 or s8. SIDE is: the padded size of each dimension, the stride of each (of its outermost digit,
// in elements), the number of inner blocks, their sizes, and the dimension of each. Threads: as OMP_NUM_THREADS says.
#include <dnnl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Seconds = std::chrono::duration<double>;

double Now() { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Zeroed, so that its pages exist.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes), data_(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)) {
    if (data_ == nullptr) {
      throw std::string("no memory");
    }
    std::memset(data_, 0, bytes);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  unsigned char* data() const { return static_cast<unsigned char*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  void* data_;
};

void Check(dnnl_status_t status, const char* what) {
  if (status != dnnl_success) {
    throw std::string(what) + " says " + std::to_string(status);
  }
}

dnnl_data_type_t ReadType(std::istream& in) {
  std::string name;
  in >> name;
  return name == "f32" ? dnnl_f32 : name == "bf16" ? dnnl_bf16 : name == "s32" ? dnnl_s32 : dnnl_s8;
}

// The dimensions and the type are in `side` already.
void ReadSide(std::istream& in, dnnl_memory_desc_t* side) {
  dnnl_blocking_desc_t& blocking = side->format_desc.blocking;
  side->format_kind = dnnl_blocked;
  for (int d = 0; d < side->ndims; ++d) {
    in >> side->padded_dims[d];
  }
  for (int d = 0; d < side->ndims; ++d) {
    in >> blocking.strides[d];
  }
  in >> blocking.inner_nblks;
  if (!in || blocking.inner_nblks > DNNL_MAX_NDIMS) {
    throw std::string("too many blocks");
  }
  for (int b = 0; b < blocking.inner_nblks; ++b) {
    in >> blocking.inner_blks[b];
  }
  for (int b = 0; b < blocking.inner_nblks; ++b) {
    in >> blocking.inner_idxs[b];
  }
}

class Reorder {
 public:
  explicit Reorder(std::istream& in) {
    dnnl_memory_desc_t from{};
    from.data_type = ReadType(in);
    in >> from.ndims;
    if (!in || from.ndims < 1 || from.ndims > DNNL_MAX_NDIMS) {
      throw std::string("too many dimensions");
    }
    for (int d = 0; d < from.ndims; ++d) {
      in >> from.dims[d];
    }
    dnnl_memory_desc_t to = from;
    ReadSide(in, &from);
    ReadSide(in, &to);
    Make(from, to);
  }
  Reorder(const Reorder&) = delete;
  Reorder& operator=(const Reorder&) = delete;

  ~Reorder() {
    dnnl_primitive_destroy(primitive_);
    dnnl_memory_destroy(arguments_[0].memory);
    dnnl_memory_destroy(arguments_[1].memory);
    dnnl_stream_destroy(stream_);
    dnnl_engine_destroy(engine_);
  }

  void Run() {
    Check(dnnl_primitive_execute(primitive_, stream_, 2, arguments_), "execute");
    Check(dnnl_stream_wait(stream_), "wait");
  }

  const Buffer& target() const { return *target_; }

 private:
  void Make(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
    Check(dnnl_engine_create(&engine_, dnnl_cpu, 0), "engine");
    Check(dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags), "stream");
    dnnl_primitive_desc_t description = nullptr;
    Check(dnnl_reorder_primitive_desc_create(&description, &from, engine_, &to, engine_, nullptr), "reorder");
    const dnnl_status_t made = dnnl_primitive_create(&primitive_, description);
    dnnl_primitive_desc_destroy(description);
    Check(made, "primitive");

    source_ = std::make_unique<Buffer>(dnnl_memory_desc_get_size(&from));
    target_ = std::make_unique<Buffer>(dnnl_memory_desc_get_size(&to));
    for (size_t i = 0; i < source_->bytes(); ++i) {
      source_->data()[i] = 1 + i % 126;  // as in peers.py; no denormals, which oneDNN flushes
    }
    arguments_[0].arg = DNNL_ARG_FROM;
    arguments_[1].arg = DNNL_ARG_TO;
    Check(dnnl_memory_create(&arguments_[0].memory, &from, engine_, source_->data()), "memory");
    Check(dnnl_memory_create(&arguments_[1].memory, &to, engine_, target_->data()), "memory");
  }

  dnnl_engine_t engine_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_exec_arg_t arguments_[2] = {};
  std::unique_ptr<Buffer> source_;
  std::unique_ptr<Buffer> target_;
};

// Small problems are timed many at a time, so that the clock does not count; those that take seconds, once.
double MedianSeconds(Reorder* reorder, double seconds) {
  reorder->Run();
  const double begin = Now();
  reorder->Run();
  const double once = Now() - begin;
  if (once > 1) {
    return once;
  }
  const int batch = std::max(1, static_cast<int>(1e-3 / std::max(once, 1e-8)));
  std::vector<double> times;
  while (times.size() < 3 || Now() - begin < seconds) {
    const double start = Now();
    for (int i = 0; i < batch; ++i) {
      reorder->Run();
    }
    times.push_back((Now() - start) / batch);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void Answer(const std::string& line, std::unique_ptr<Reorder>* reorder) {
  std::istringstream in(line);
  std::string command;
  in >> command;
  if (command == "problem") {
    reorder->reset();
    *reorder = std::make_unique<Reorder>(in);
    std::cout << "ok" << std::endl;
  } else if (*reorder == nullptr) {
    std::cout << "error no problem yet" << std::endl;
  } else if (command == "run") {
    double seconds = 0;
    in >> seconds;
    std::cout << "seconds " << MedianSeconds(reorder->get(), seconds) << std::endl;
  } else if (command == "write") {
    std::string path;
    in >> path;
    const Buffer& target = (*reorder)->target();
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(target.data()), target.bytes());
    std::cout << "ok" << std::endl;
  } else {
    std::cout << "error unknown command" << std::endl;
  }
}

}  // namespace

int main() {
  std::unique_ptr<Reorder> reorder;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      Answer(line, &reorder);
    } catch (const std::string& error) {
      std::cout << "error " << error << std::endl;
    }
  }
  return 0;
}
