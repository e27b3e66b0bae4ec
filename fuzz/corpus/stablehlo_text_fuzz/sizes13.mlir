func.func @main(%x: tensor<?xf32>) -> tensor<?xui32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %r:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %v) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<?xui32>)
  return %r#1 : tensor<?xui32>
}
