func.func @main(%x: tensor<?x8xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %r:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %n) : (tensor<?x8xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xi32>
}
