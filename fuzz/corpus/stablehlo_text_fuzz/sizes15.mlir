func.func @main(%x: tensor<?x3xf32>) -> tensor<?x6xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %a = call @double(%n, %x) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %b = call @double(%n, %a) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = stablehlo.concatenate %a, %b, dim = 1 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>
  %k = stablehlo.constant dense<2> : tensor<i32>
  %d = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %e = call @double(%k, %d) : (tensor<i32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  return %c : tensor<?x6xf32>
}
func.func private @double(%n: tensor<i32>, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %sizes = stablehlo.concatenate %v, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %twos = stablehlo.dynamic_broadcast_in_dim %two, %sizes, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
  %y = stablehlo.multiply %x, %twos : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
