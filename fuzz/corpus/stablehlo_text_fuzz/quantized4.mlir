func.func @main(%x: tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>>) -> tensor<4x2xf32> {
  %r = stablehlo.uniform_dequantize %x : (tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
