#include "kashi/codegen/loop_builder.h"

namespace kashi::codegen {

llvm::Value* EmitLoop(Ir& ir, llvm::Value* begin, llvm::Value* end, int64_t step,
                      absl::FunctionRef<void(llvm::Value* i)> body) {
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(ir.getContext(), "loop", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(ir.getContext(), "after", function);
  llvm::Value* last = ir.CreateNSWSub(end, ir.getInt64(step));  // the last i that still fits
  ir.CreateCondBr(ir.CreateICmpSLE(begin, last), loop, after);

  ir.SetInsertPoint(loop);
  llvm::PHINode* i = ir.CreatePHI(ir.getInt64Ty(), 2, "i");
  i->addIncoming(begin, before);
  body(i);
  llvm::Value* next = ir.CreateNSWAdd(i, ir.getInt64(step));
  llvm::BasicBlock* latch = ir.GetInsertBlock();
  i->addIncoming(next, latch);
  ir.CreateCondBr(ir.CreateICmpSLE(next, last), loop, after);

  ir.SetInsertPoint(after);
  llvm::PHINode* left = ir.CreatePHI(ir.getInt64Ty(), 2, "left");
  left->addIncoming(begin, before);
  left->addIncoming(next, latch);
  return left;
}

void EmitLaneLoops(Ir& ir, llvm::Value* begin, llvm::Value* end, absl::Span<const int> lanes,
                   absl::FunctionRef<void(int lanes, llvm::Value* i)> body) {
  for (int width : lanes) {
    begin = EmitLoop(ir, begin, end, width, [&](llvm::Value* i) { body(width, i); });
  }
}

}  // namespace kashi::codegen
