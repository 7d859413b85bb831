// Floating-point functions, from the host's mathematical library. The fast ones are as exact as the others here: a
// kernel's last bits are not what emulation shows.
#define KILN_MATH_1(name)          \
  extern "C" float name##f(float); \
  extern "C" double name(double);  \
  inline float name(float x) { return __builtin_##name##f(x); }
#define KILN_MATH_2(name)                 \
  extern "C" float name##f(float, float); \
  extern "C" double name(double, double); \
  inline float name(float x, float y) { return __builtin_##name##f(x, y); }
KILN_MATH_1(sqrt)
KILN_MATH_1(cbrt)
KILN_MATH_1(exp)
KILN_MATH_1(exp2)
KILN_MATH_1(expm1)
KILN_MATH_1(log)
KILN_MATH_1(log2)
KILN_MATH_1(log10)
KILN_MATH_1(log1p)
KILN_MATH_1(sin)
KILN_MATH_1(cos)
KILN_MATH_1(tan)
KILN_MATH_1(asin)
KILN_MATH_1(acos)
KILN_MATH_1(atan)
KILN_MATH_1(sinh)
KILN_MATH_1(cosh)
KILN_MATH_1(tanh)
KILN_MATH_1(erf)
KILN_MATH_1(erfc)
KILN_MATH_1(floor)
KILN_MATH_1(ceil)
KILN_MATH_1(trunc)
KILN_MATH_1(round)
KILN_MATH_1(rint)
KILN_MATH_1(nearbyint)
KILN_MATH_1(fabs)
KILN_MATH_2(pow)
KILN_MATH_2(atan2)
KILN_MATH_2(hypot)
KILN_MATH_2(fmod)
KILN_MATH_2(remainder)
KILN_MATH_2(fmin)
KILN_MATH_2(fmax)
KILN_MATH_2(fdim)
KILN_MATH_2(copysign)
#undef KILN_MATH_1
#undef KILN_MATH_2
extern "C" float fmaf(float, float, float);
extern "C" double fma(double, double, double);
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }

template <typename T>
inline bool isnan(T x) {
  return __builtin_isnan(x);
}
template <typename T>
inline bool isinf(T x) {
  return __builtin_isinf(x);
}
template <typename T>
inline bool isfinite(T x) {
  return __builtin_isfinite(x);
}
template <typename T>
inline bool signbit(T x) {
  return __builtin_signbit(x);
}

inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float exp10f(float x) { return __builtin_powf(10.0f, x); }
inline float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
inline float __expf(float x) { return __builtin_expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return __builtin_logf(x); }
inline float __log2f(float x) { return __builtin_log2f(x); }
inline float __log10f(float x) { return __builtin_log10f(x); }
inline float __sinf(float x) { return __builtin_sinf(x); }
inline float __cosf(float x) { return __builtin_cosf(x); }
inline float __tanf(float x) { return __builtin_tanf(x); }
inline float __powf(float x, float y) { return __builtin_powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline void sincosf(float x, float* sine, float* cosine) {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
inline void __sincosf(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }

// Round to nearest is the host's own mode, so only those names are given.
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline int __float2int_rn(float x) { return static_cast<int>(__builtin_rintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_rd(float x) { return static_cast<int>(__builtin_floorf(x)); }
inline int __float2int_ru(float x) { return static_cast<int>(__builtin_ceilf(x)); }
inline unsigned __float2uint_rn(float x) { return static_cast<unsigned>(__builtin_rintf(x)); }
inline unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
