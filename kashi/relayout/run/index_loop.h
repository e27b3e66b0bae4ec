// The index loop: element by element, by the formulas of the layouts. For sides that no loop nest relates; every kernel
// is tested against it.
#ifndef KASHI_RELAYOUT_RUN_INDEX_LOOP_H_
#define KASHI_RELAYOUT_RUN_INDEX_LOOP_H_

#include "kashi/relayout/plan/problem.h"

namespace kashi::relayout {

// Moves all elements. `convert`: from one form to the other, where the types differ.
void MoveByIndex(const RelayoutTask& task, const RowFunction& convert, const char* source, char* target);

// Writes all padding but the last bits of the last byte. Pre: task.clears_padding().
void ClearByIndex(const RelayoutTask& task, char* target);

// Packed elements may not fill the last byte: its other bits become 0. Pre: the target is a whole buffer.
void ClearLastBits(const Placement& to, char* target);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_RUN_INDEX_LOOP_H_
