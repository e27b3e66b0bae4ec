func.func @main(%a: tensor<4xf32>, %b: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi1>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<f32>, tensor<2x4xi1>, tensor<2x4xf32>) {
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = chlo.broadcast_compare %a, %b {broadcast_dimensions = array<i64: 1>, comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
  %2, %3 = chlo.top_k(%b, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  %4 = chlo.constant dense<2.5> : tensor<f32>
  %5 = chlo.broadcast_compare %b, %c {comparison_direction = #chlo<comparison_direction GE>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
  %6 = "chlo.constant_like"(%b) {value = 3.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x4xf32>, tensor<2x4xi1>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<f32>, tensor<2x4xi1>, tensor<2x4xf32>
}
