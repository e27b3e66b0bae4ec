module @newer {
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {
    %0 = "stablehlo.collective_broadcast"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @f(%0) {backend_config = {a = 1 : i32}, api_version = 4 : i32, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    %2, %3 = chlo.top_k(%1, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %4 = call @g(%1) : (tensor<4xf32>) -> tensor<4xf32>
    return %4, %2, %3 : tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
  }
  func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.exponential %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
