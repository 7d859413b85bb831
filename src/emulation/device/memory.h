// Loads and stores with a cache hint, and atomics. Blocks and threads run one at a time, so all of them are plain.
namespace kiln_emulation {
/// clang's own check leaves out whole vectors.
template <typename T>
inline void check_alignment(const T* pointer, Site site) {
  if (reinterpret_cast<size_t>(pointer) % alignof(T) != 0) {
    fail("address of a load or store is not one of a value of its type's alignment", site);
  }
}
}  // namespace kiln_emulation

#define KILN_LOAD(name)                                               \
  template <typename T>                                               \
  inline T name(const T* pointer, KilnSite site = KilnSite::here()) { \
    kiln_emulation::check_alignment(pointer, site);                   \
    return *pointer;                                                  \
  }
KILN_LOAD(__ldg)
KILN_LOAD(__ldcg)
KILN_LOAD(__ldca)
KILN_LOAD(__ldcs)
KILN_LOAD(__ldlu)
KILN_LOAD(__ldcv)
#undef KILN_LOAD

namespace kiln_emulation {
template <typename T>
struct Same {
  using Type = T;
};
/// A parameter that takes no part in deduction, so that arguments convert as they do with CUDA's overloads.
template <typename T>
using As = typename Same<T>::Type;
}  // namespace kiln_emulation

#define KILN_STORE(name)                                                                        \
  template <typename T>                                                                         \
  inline void name(T* pointer, kiln_emulation::As<T> value, KilnSite site = KilnSite::here()) { \
    kiln_emulation::check_alignment(pointer, site);                                             \
    *pointer = value;                                                                           \
  }
KILN_STORE(__stwb)
KILN_STORE(__stcg)
KILN_STORE(__stcs)
KILN_STORE(__stwt)
#undef KILN_STORE

#define KILN_ATOMIC_SCOPE(name, next)                      \
  template <typename T>                                    \
  inline T name(T* pointer, kiln_emulation::As<T> value) { \
    const T old = *pointer;                                \
    *pointer = next;                                       \
    return old;                                            \
  }
#define KILN_ATOMIC(name, next)         \
  KILN_ATOMIC_SCOPE(name, next)         \
  KILN_ATOMIC_SCOPE(name##_block, next) \
  KILN_ATOMIC_SCOPE(name##_system, next)
KILN_ATOMIC(atomicAdd, static_cast<T>(old + value))
KILN_ATOMIC(atomicSub, static_cast<T>(old - value))
KILN_ATOMIC(atomicExch, value)
KILN_ATOMIC(atomicMin, value < old ? value : old)
KILN_ATOMIC(atomicMax, value > old ? value : old)
KILN_ATOMIC(atomicInc, old >= value ? T(0) : static_cast<T>(old + 1))
KILN_ATOMIC(atomicDec, old == 0 || old > value ? value : static_cast<T>(old - 1))
KILN_ATOMIC(atomicAnd, static_cast<T>(old& value))
KILN_ATOMIC(atomicOr, static_cast<T>(old | value))
KILN_ATOMIC(atomicXor, static_cast<T>(old ^ value))
#undef KILN_ATOMIC
#undef KILN_ATOMIC_SCOPE

#define KILN_ATOMIC_CAS(name)                                                              \
  template <typename T>                                                                    \
  inline T name(T* pointer, kiln_emulation::As<T> expected, kiln_emulation::As<T> value) { \
    const T old = *pointer;                                                                \
    if (old == expected) {                                                                 \
      *pointer = value;                                                                    \
    }                                                                                      \
    return old;                                                                            \
  }
KILN_ATOMIC_CAS(atomicCAS)
KILN_ATOMIC_CAS(atomicCAS_block)
KILN_ATOMIC_CAS(atomicCAS_system)
#undef KILN_ATOMIC_CAS
