func.func @main(%x: tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>>) -> tensor<2x4x!quant.uniform<u8:f32:0, {0.5:3, 0.25}>> {
  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>>) -> tensor<2x4x!quant.uniform<u8:f32:0, {0.5:3, 0.25}>>
  return %r : tensor<2x4x!quant.uniform<u8:f32:0, {0.5:3, 0.25}>>
}
