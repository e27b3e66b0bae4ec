// The functions of operations that talk to a host or to another device: infeed, outfeed, send, recv.
#ifndef KASHI_EVALUATOR_TRANSFERS_H_
#define KASHI_EVALUATOR_TRANSFERS_H_

#include "kashi/devices/device.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {

// Null for other operations. The function needs a device that supports it.
EvaluationFunction FindTransfer(HloOpcode opcode);
// Whether the device supports the transfer. Null: there is no device.
bool CanTransfer(const HloInstruction& transfer, const devices::Device* device);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_TRANSFERS_H_
