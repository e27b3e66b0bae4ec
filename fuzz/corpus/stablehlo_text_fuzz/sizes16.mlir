func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<?x3xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.constant dense<3> : tensor<1xi32>
      %sizes = stablehlo.concatenate %v, %w, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
      %b = stablehlo.dynamic_broadcast_in_dim %f, %sizes, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
      %t = stablehlo.add %s, %b : tensor<?x3xf32>
      stablehlo.return %j, %t : tensor<i32>, tensor<?x3xf32>
    }
  return %r#1 : tensor<?x3xf32>
}
