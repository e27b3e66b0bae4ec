// The end of each file that Highway compiles once for each processor: functions that call the version for the processor
// they run on. Outside of HWY_NAMESPACE,
//
//   KASHI_EXPORT(TransposeFunction, TransposeFunctionFor, (int64_t element_bytes), FunctionFor, (element_bytes))
//
// defines `TransposeFunction TransposeFunctionFor(int64_t element_bytes)`, which calls HWY_NAMESPACE::FunctionFor. It
// is nothing in all compilations of the file but one.
#if defined(KASHI_RELAYOUT_SIMD_HIGHWAY_EXPORT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KASHI_RELAYOUT_SIMD_HIGHWAY_EXPORT_INL_H_
#undef KASHI_RELAYOUT_SIMD_HIGHWAY_EXPORT_INL_H_
#else
#define KASHI_RELAYOUT_SIMD_HIGHWAY_EXPORT_INL_H_
#endif

#undef KASHI_EXPORT
#if HWY_ONCE
#define KASHI_EXPORT(result, name, parameters, function, arguments) \
  HWY_EXPORT(function);                                             \
  result name parameters { return HWY_DYNAMIC_DISPATCH(function) arguments; }
#else
#define KASHI_EXPORT(result, name, parameters, function, arguments)
#endif

#endif  // KASHI_RELAYOUT_SIMD_HIGHWAY_EXPORT_INL_H_
