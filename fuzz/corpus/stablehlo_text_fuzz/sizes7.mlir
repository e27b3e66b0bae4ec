func.func @main(%x: tensor<1x?x1xf32>, %w: tensor<3x1x1xf32>) -> tensor<1x?x1xf32> {
  %pad = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %r = "stablehlo.dynamic_conv"(%x, %w, %pad) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    window_strides = array<i64: 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<1x?x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>
  return %r : tensor<1x?x1xf32>
}
