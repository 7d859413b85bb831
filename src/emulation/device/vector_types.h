// CUDA's vector types, with the sizes and alignments of its vector_types.h.
#define KILN_VECTOR(name, type, align1, align2, align3, align4) \
  struct align1 name##1 { type x; };                            \
  struct align2 name##2 { type x, y; };                         \
  struct align3 name##3 { type x, y, z; };                      \
  struct align4 name##4 { type x, y, z, w; };                   \
  KILN_MAKE_VECTOR(name, type, name##4)

#define KILN_MAKE_VECTOR(name, type, four)                                    \
  inline name##1 make_##name##1(type x) { return {x}; }                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline four make_##four(type x, type y, type z, type w) { return {x, y, z, w}; }

#define KILN_ALIGN(bytes) __attribute__((aligned(bytes)))
#define KILN_NATURAL

KILN_VECTOR(char, signed char, KILN_NATURAL, KILN_ALIGN(2), KILN_NATURAL, KILN_ALIGN(4))
KILN_VECTOR(uchar, unsigned char, KILN_NATURAL, KILN_ALIGN(2), KILN_NATURAL, KILN_ALIGN(4))
KILN_VECTOR(short, short, KILN_NATURAL, KILN_ALIGN(4), KILN_NATURAL, KILN_ALIGN(8))
KILN_VECTOR(ushort, unsigned short, KILN_NATURAL, KILN_ALIGN(4), KILN_NATURAL, KILN_ALIGN(8))
KILN_VECTOR(int, int, KILN_NATURAL, KILN_ALIGN(8), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(uint, unsigned int, KILN_NATURAL, KILN_ALIGN(8), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(float, float, KILN_NATURAL, KILN_ALIGN(8), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(long, long, KILN_NATURAL, KILN_ALIGN(16), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(ulong, unsigned long, KILN_NATURAL, KILN_ALIGN(16), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(longlong, long long, KILN_NATURAL, KILN_ALIGN(16), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(ulonglong, unsigned long long, KILN_NATURAL, KILN_ALIGN(16), KILN_NATURAL, KILN_ALIGN(16))
KILN_VECTOR(double, double, KILN_NATURAL, KILN_ALIGN(16), KILN_NATURAL, KILN_ALIGN(16))

// The types of CUDA 13 that say their alignment.
#define KILN_FOUR_OF_EIGHT(name, type)                                                           \
  struct KILN_ALIGN(16) name##4_16a { type x, y, z, w; };                                        \
  struct KILN_ALIGN(32) name##4_32a { type x, y, z, w; };                                        \
  inline name##4_16a make_##name##4_16a(type x, type y, type z, type w) { return {x, y, z, w}; } \
  inline name##4_32a make_##name##4_32a(type x, type y, type z, type w) { return {x, y, z, w}; }
KILN_FOUR_OF_EIGHT(long, long)
KILN_FOUR_OF_EIGHT(ulong, unsigned long)
KILN_FOUR_OF_EIGHT(longlong, long long)
KILN_FOUR_OF_EIGHT(ulonglong, unsigned long long)
KILN_FOUR_OF_EIGHT(double, double)

#undef KILN_FOUR_OF_EIGHT
#undef KILN_NATURAL
#undef KILN_ALIGN
#undef KILN_MAKE_VECTOR
#undef KILN_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 index) : x(index.x), y(index.y), z(index.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
