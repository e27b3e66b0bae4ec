func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %sizes = stablehlo.concatenate %v, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %w = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %sizes) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %r = stablehlo.custom_call @foo(%w, %sizes) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
