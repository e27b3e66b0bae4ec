func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5:3>>, %y: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<i8<-100:100>:f32, 0.25>> {
  %r = stablehlo.add %x, %y : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<i8<-100:100>:f32, 0.25>>
  return %r : tensor<4x!quant.uniform<i8<-100:100>:f32, 0.25>>
}
