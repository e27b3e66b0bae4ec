func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %window = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %pad = stablehlo.constant dense<0> : tensor<2x2xi32>
  %r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %window, %ones, %ones, %ones, %pad) {called_computations = [@sum]} : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.add %a, %b : tensor<f32>
  return %c : tensor<f32>
}
