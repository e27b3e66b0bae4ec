func.func @main(%x: tensor<?x3xf32>) -> tensor<?x2x3xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two_three = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %sizes = stablehlo.concatenate %v, %two_three, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %sizes, dims = [0, 2] : (tensor<?x3xf32>, tensor<3xi32>) -> tensor<?x2x3xf32>
  return %r : tensor<?x2x3xf32>
}
