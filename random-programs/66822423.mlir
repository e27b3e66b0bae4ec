module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x7xf32>, %arg1: tensor<7x1x2x100xf32>) -> (tensor<2x7xf32> {jax.result_info = "result[0]"}, tensor<17x7x1x2x100xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.abs %0 : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.add %1, %cst_0 : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %4 = stablehlo.divide %arg0, %3 : tensor<2x7xf32>
    %5 = stablehlo.slice %arg1 [0:1, 0:1, 0:2, 0:100] : (tensor<7x1x2x100xf32>) -> tensor<1x1x2x100xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x1x2x100xf32>) -> tensor<1x2x100xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x100xf32>
    %9 = "stablehlo.scatter"(%arg1, %7, %8) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<7x1x2x100xf32>, tensor<1xi32>, tensor<1x2x100xf32>) -> tensor<7x1x2x100xf32>
    %10 = stablehlo.iota dim = 0 : tensor<2xi32>
    %11 = call @_take(%arg1, %10) : (tensor<7x1x2x100xf32>, tensor<2xi32>) -> tensor<7x1x2x100xf32>
    %12 = stablehlo.concatenate %arg1, %11, dim = 2 : (tensor<7x1x2x100xf32>, tensor<7x1x2x100xf32>) -> tensor<7x1x4x100xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<7x1x2x100xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %14:4 = stablehlo.while(%iterArg = %9, %iterArg_21 = %c_4, %iterArg_22 = %cst_2, %iterArg_23 = %13) : tensor<7x1x2x100xf32>, tensor<i32>, tensor<f32>, tensor<7x1x2x100xf32>
    cond {
      %c_24 = stablehlo.constant dense<7> : tensor<i32>
      %60 = stablehlo.compare LT, %iterArg_21, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %60 : tensor<i1>
    } do {
      %60 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_21) : (tensor<7x1x2x100xf32>, tensor<i32>) -> tensor<1x2x100xf32>
      %61:2 = func.call @closed_call(%iterArg_22, %60) : (tensor<f32>, tensor<1x2x100xf32>) -> (tensor<f32>, tensor<1x2x100xf32>)
      %62 = func.call @dynamic_update_index_in_dim(%iterArg_23, %61#1, %iterArg_21) : (tensor<7x1x2x100xf32>, tensor<1x2x100xf32>, tensor<i32>) -> tensor<7x1x2x100xf32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %63 = stablehlo.add %iterArg_21, %c_24 : tensor<i32>
      stablehlo.return %iterArg, %63, %61#0, %62 : tensor<7x1x2x100xf32>, tensor<i32>, tensor<f32>, tensor<7x1x2x100xf32>
    }
    %15 = call @_flip(%arg1) : (tensor<7x1x2x100xf32>) -> tensor<7x1x2x100xf32>
    %16 = stablehlo.broadcast_in_dim %14#3, dims = [1, 2, 3, 4] : (tensor<7x1x2x100xf32>) -> tensor<17x7x1x2x100xf32>
    %17 = stablehlo.iota dim = 0 : tensor<2xi32>
    %18 = call @_take_0(%4, %17) : (tensor<2x7xf32>, tensor<2xi32>) -> tensor<2x7xf32>
    %19 = stablehlo.concatenate %4, %18, dim = 0 : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<4x7xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x100xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %21:4 = stablehlo.while(%iterArg = %16, %iterArg_21 = %c_7, %iterArg_22 = %cst_5, %iterArg_23 = %20) : tensor<17x7x1x2x100xf32>, tensor<i32>, tensor<f32>, tensor<17x7x1x2x100xf32>
    cond {
      %c_24 = stablehlo.constant dense<17> : tensor<i32>
      %60 = stablehlo.compare LT, %iterArg_21, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %60 : tensor<i1>
    } do {
      %60 = func.call @dynamic_index_in_dim_1(%iterArg, %iterArg_21) : (tensor<17x7x1x2x100xf32>, tensor<i32>) -> tensor<7x1x2x100xf32>
      %61:2 = func.call @closed_call_2(%iterArg_22, %60) : (tensor<f32>, tensor<7x1x2x100xf32>) -> (tensor<f32>, tensor<7x1x2x100xf32>)
      %62 = func.call @dynamic_update_index_in_dim_3(%iterArg_23, %61#1, %iterArg_21) : (tensor<17x7x1x2x100xf32>, tensor<7x1x2x100xf32>, tensor<i32>) -> tensor<17x7x1x2x100xf32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %63 = stablehlo.add %iterArg_21, %c_24 : tensor<i32>
      stablehlo.return %iterArg, %63, %61#0, %62 : tensor<17x7x1x2x100xf32>, tensor<i32>, tensor<f32>, tensor<17x7x1x2x100xf32>
    }
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%9 init: %cst_8) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %24 = stablehlo.maximum %4, %23 : tensor<2x7xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %25 = stablehlo.reduce(%14#3 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<7x1x100xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<7x1x100xf32>
    %27 = stablehlo.maximum %26, %25 : tensor<7x1x100xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 3] : (tensor<7x1x100xf32>) -> tensor<7x1x1x100xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<7x1x1x100xf32>) -> tensor<7x1x2x100xf32>
    %30 = stablehlo.subtract %14#3, %29 : tensor<7x1x2x100xf32>
    %31 = stablehlo.exponential %30 : tensor<7x1x2x100xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<7x1x100xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 3] : (tensor<7x1x100xf32>) -> tensor<7x1x1x100xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<7x1x1x100xf32>) -> tensor<7x1x2x100xf32>
    %35 = stablehlo.divide %31, %34 : tensor<7x1x2x100xf32>
    %36 = stablehlo.abs %24 : tensor<2x7xf32>
    %37 = stablehlo.log_plus_one %36 : tensor<2x7xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%21#3 init: %cst_12) applies stablehlo.add across dimensions = [4] : (tensor<17x7x1x2x100xf32>, tensor<f32>) -> tensor<17x7x1x2xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<17x7x1x2xf32>) -> tensor<17x7x1x2x1xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x1xf32>
    %41 = stablehlo.divide %39, %40 : tensor<17x7x1x2x1xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2, 3, 4] : (tensor<17x7x1x2x1xf32>) -> tensor<17x7x1x2x100xf32>
    %43 = stablehlo.subtract %21#3, %42 : tensor<17x7x1x2x100xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %44 = call @_var(%21#3, %c_14) : (tensor<17x7x1x2x100xf32>, tensor<i32>) -> tensor<17x7x1x2x1xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x1xf32>
    %46 = stablehlo.add %44, %45 : tensor<17x7x1x2x1xf32>
    %47 = stablehlo.rsqrt %46 : tensor<17x7x1x2x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3, 4] : (tensor<17x7x1x2x1xf32>) -> tensor<17x7x1x2x100xf32>
    %49 = stablehlo.multiply %43, %48 : tensor<17x7x1x2x100xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_16) applies stablehlo.add across dimensions = [0, 1, 2, 3, 4] : (tensor<17x7x1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.compare GT, %50, %cst_17, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %52 = stablehlo.convert %51 : (tensor<i1>) -> tensor<i32>
    %53 = "stablehlo.case"(%52) ({
      %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %60 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x100xf32>
      %61 = stablehlo.subtract %49, %60 : tensor<17x7x1x2x100xf32>
      stablehlo.return %61 : tensor<17x7x1x2x100xf32>
    }, {
      %cst_21 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %60 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x100xf32>
      %61 = stablehlo.multiply %49, %60 : tensor<17x7x1x2x100xf32>
      stablehlo.return %61 : tensor<17x7x1x2x100xf32>
    }) : (tensor<i32>) -> tensor<17x7x1x2x100xf32>
    %cst_18 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %54 = stablehlo.reduce(%9 init: %cst_18) applies stablehlo.minimum across dimensions = [0, 1, 2, 3] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %cst_19 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %55 = stablehlo.reduce(%9 init: %cst_19) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.add %55, %cst_20 : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %54, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %58 = stablehlo.broadcast_in_dim %56, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %59 = stablehlo.clamp %57, %37, %58 : tensor<2x7xf32>
    return %59, %53 : tensor<2x7xf32>, tensor<17x7x1x2x100xf32>
  }
  func.func private @_take(%arg0: tensor<7x1x2x100xf32>, %arg1: tensor<2xi32>) -> tensor<7x1x2x100xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<2x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<2x1xi1>, tensor<i1>) -> tensor<2xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 7, 1, 1, 100>}> : (tensor<7x1x2x100xf32>, tensor<2x1xi32>) -> tensor<7x1x2x100xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [2] : (tensor<2xi1>) -> tensor<7x1x2x100xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7x1x2x100xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<7x1x2x100xi1>, tensor<7x1x2x100xf32>
    return %16 : tensor<7x1x2x100xf32>
  }
  func.func private @_where(%arg0: tensor<2xi1>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2xi1>, tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7x1x2x100xf32>, %arg1: tensor<i32>) -> tensor<1x2x100xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 2, 100] : (tensor<7x1x2x100xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x2x100xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x2x100xf32>) -> tensor<1x2x100xf32>
    return %1 : tensor<1x2x100xf32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<1x2x100xf32>) -> (tensor<f32>, tensor<1x2x100xf32>) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.multiply %arg0, %cst : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg1 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<2.000000e+02> : tensor<f32>
    %2 = stablehlo.divide %1, %cst_1 : tensor<f32>
    %3 = stablehlo.add %0, %2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1x2x100xf32>
    %5 = stablehlo.add %arg1, %4 : tensor<1x2x100xf32>
    return %3, %5 : tensor<f32>, tensor<1x2x100xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7x1x2x100xf32>, %arg1: tensor<1x2x100xf32>, %arg2: tensor<i32>) -> tensor<7x1x2x100xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x2x100xf32>) -> tensor<1x1x2x100xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<7x1x2x100xf32>, tensor<1x1x2x100xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x1x2x100xf32>
    return %1 : tensor<7x1x2x100xf32>
  }
  func.func private @_flip(%arg0: tensor<7x1x2x100xf32>) -> tensor<7x1x2x100xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<7x1x2x100xf32>
    return %0 : tensor<7x1x2x100xf32>
  }
  func.func private @_take_0(%arg0: tensor<2x7xf32>, %arg1: tensor<2xi32>) -> tensor<2x7xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<2x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<2x1xi1>, tensor<i1>) -> tensor<2xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 7>}> : (tensor<2x7xf32>, tensor<2x1xi32>) -> tensor<2x7xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<2xi1>) -> tensor<2x7xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<2x7xi1>, tensor<2x7xf32>
    return %16 : tensor<2x7xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<17x7x1x2x100xf32>, %arg1: tensor<i32>) -> tensor<7x1x2x100xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 7, 1, 2, 100] : (tensor<17x7x1x2x100xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x7x1x2x100xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x7x1x2x100xf32>) -> tensor<7x1x2x100xf32>
    return %1 : tensor<7x1x2x100xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<f32>, %arg1: tensor<7x1x2x100xf32>) -> (tensor<f32>, tensor<7x1x2x100xf32>) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.multiply %arg0, %cst : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg1 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<7x1x2x100xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.400000e+03> : tensor<f32>
    %2 = stablehlo.divide %1, %cst_1 : tensor<f32>
    %3 = stablehlo.add %0, %2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<7x1x2x100xf32>
    %5 = stablehlo.add %arg1, %4 : tensor<7x1x2x100xf32>
    return %3, %5 : tensor<f32>, tensor<7x1x2x100xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<17x7x1x2x100xf32>, %arg1: tensor<7x1x2x100xf32>, %arg2: tensor<i32>) -> tensor<17x7x1x2x100xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<7x1x2x100xf32>) -> tensor<1x7x1x2x100xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<17x7x1x2x100xf32>, tensor<1x7x1x2x100xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<17x7x1x2x100xf32>
    return %1 : tensor<17x7x1x2x100xf32>
  }
  func.func private @_var(%arg0: tensor<17x7x1x2x100xf32>, %arg1: tensor<i32>) -> tensor<17x7x1x2x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [4] : (tensor<17x7x1x2x100xf32>, tensor<f32>) -> tensor<17x7x1x2xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<17x7x1x2xf32>) -> tensor<17x7x1x2x1xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<17x7x1x2x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3, 4] : (tensor<17x7x1x2x1xf32>) -> tensor<17x7x1x2x100xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<17x7x1x2x100xf32>
    %6 = chlo.square %5 : tensor<17x7x1x2x100xf32> -> tensor<17x7x1x2x100xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [4] : (tensor<17x7x1x2x100xf32>, tensor<f32>) -> tensor<17x7x1x2xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<17x7x1x2xf32>) -> tensor<17x7x1x2x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<17x7x1x2x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where_4(%13, %12, %cst_4) : (tensor<i1>, tensor<17x7x1x2x1xf32>, tensor<f32>) -> tensor<17x7x1x2x1xf32>
    return %14 : tensor<17x7x1x2x1xf32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<17x7x1x2x1xf32>, %arg2: tensor<f32>) -> tensor<17x7x1x2x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<17x7x1x2x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<17x7x1x2x1xf32>
    return %2 : tensor<17x7x1x2x1xf32>
  }
}
