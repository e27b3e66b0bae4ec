// tsl::gtl::iterator_range: two iterators that a range-based for takes.
#ifndef KASHI_COMPAT_XLA_TSL_LIB_GTL_ITERATOR_RANGE_H_
#define KASHI_COMPAT_XLA_TSL_LIB_GTL_ITERATOR_RANGE_H_

#include <utility>

namespace tsl::gtl {

template <typename Iterator>
class iterator_range {
 public:
  using iterator = Iterator;
  iterator_range(Iterator begin, Iterator end) : begin_(std::move(begin)), end_(std::move(end)) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

template <typename Iterator>
iterator_range<Iterator> make_range(Iterator begin, Iterator end) {
  return iterator_range<Iterator>(std::move(begin), std::move(end));
}

}  // namespace tsl::gtl

#endif  // KASHI_COMPAT_XLA_TSL_LIB_GTL_ITERATOR_RANGE_H_
