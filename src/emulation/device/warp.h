// Warp operations: the lanes of the mask wait for each other, then every one sees what each gave.
namespace kiln_emulation {

constexpr unsigned k_lanes_taking_part = 32;  // of what exchange() gives: the mask, behind the 32 values

inline const unsigned long long* exchange(unsigned mask, unsigned long long value, const char* call, Site site) {
  return hooks.exchange(hooks.runner, mask, value, call, site);
}

template <typename T>
inline unsigned long long to_bits(T value) {
  static_assert(sizeof(T) <= sizeof(unsigned long long), "warp operations take values of at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <typename T>
inline T from_bits(unsigned long long bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// Others mean nothing on a GPU, and lead out of a warp's values here.
inline void check_width(int width, Site site) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    fail("the width of a shuffle is not 1, 2, 4, 8, 16 or 32", site);
  }
}

/// Everyone's value, reduced over the lanes that took part; `combine(a, b)`.
template <typename T, typename Combine>
inline T reduce(unsigned mask, T value, const char* call, Site site, Combine combine) {
  const unsigned long long* const values = exchange(mask, to_bits(value), call, site);
  T result = value;
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (values[k_lanes_taking_part] >> lane & 1) {
      result = first ? from_bits<T>(values[lane]) : combine(result, from_bits<T>(values[lane]));
      first = false;
    }
  }
  return result;
}

}  // namespace kiln_emulation

inline void __syncwarp(unsigned mask = 0xffffffffu, KilnSite site = KilnSite::here()) {
  kiln_emulation::exchange(mask, 0, "__syncwarp", site);
}
inline unsigned __activemask() { return kiln_emulation::hooks.active_lanes(kiln_emulation::hooks.runner); }

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, KilnSite site = KilnSite::here()) {
  kiln_emulation::check_width(width, site);
  const auto* values = kiln_emulation::exchange(mask, kiln_emulation::to_bits(value), "__shfl_sync", site);
  const unsigned segment = kiln_emulation::lane() & ~static_cast<unsigned>(width - 1);
  return kiln_emulation::from_bits<T>(values[segment + (static_cast<unsigned>(source) & (width - 1))]);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, KilnSite site = KilnSite::here()) {
  kiln_emulation::check_width(width, site);
  const auto* values = kiln_emulation::exchange(mask, kiln_emulation::to_bits(value), "__shfl_up_sync", site);
  const unsigned lane = kiln_emulation::lane();
  const unsigned in_segment = lane & (width - 1);
  return in_segment < delta ? value : kiln_emulation::from_bits<T>(values[lane - delta]);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, KilnSite site = KilnSite::here()) {
  kiln_emulation::check_width(width, site);
  const auto* values = kiln_emulation::exchange(mask, kiln_emulation::to_bits(value), "__shfl_down_sync", site);
  const unsigned lane = kiln_emulation::lane();
  const unsigned in_segment = lane & (width - 1);
  return delta >= width - in_segment ? value : kiln_emulation::from_bits<T>(values[lane + delta]);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, KilnSite site = KilnSite::here()) {
  kiln_emulation::check_width(width, site);
  const auto* values = kiln_emulation::exchange(mask, kiln_emulation::to_bits(value), "__shfl_xor_sync", site);
  const unsigned lane = kiln_emulation::lane();
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned last = lane | static_cast<unsigned>(width - 1);
  return source > last ? value : kiln_emulation::from_bits<T>(values[source]);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, KilnSite site = KilnSite::here()) {
  const auto* values = kiln_emulation::exchange(mask, predicate != 0, "__ballot_sync", site);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    result |= (values[kiln_emulation::k_lanes_taking_part] >> lane & values[lane] & 1) << lane;
  }
  return result;
}
inline int __any_sync(unsigned mask, int predicate, KilnSite site = KilnSite::here()) {
  return kiln_emulation::reduce<int>(mask, predicate != 0, "__any_sync", site, [](int a, int b) { return a | b; });
}
inline int __all_sync(unsigned mask, int predicate, KilnSite site = KilnSite::here()) {
  return kiln_emulation::reduce<int>(mask, predicate != 0, "__all_sync", site, [](int a, int b) { return a & b; });
}
inline int __uni_sync(unsigned mask, int predicate, KilnSite site = KilnSite::here()) {
  const auto* values = kiln_emulation::exchange(mask, predicate != 0, "__uni_sync", site);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((values[kiln_emulation::k_lanes_taking_part] >> lane & 1) && values[lane] != (predicate != 0)) {
      return 0;
    }
  }
  return 1;
}

template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value, KilnSite site = KilnSite::here()) {
  const unsigned long long own = kiln_emulation::to_bits(value);
  const auto* values = kiln_emulation::exchange(mask, own, "__match_any_sync", site);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((values[kiln_emulation::k_lanes_taking_part] >> lane & 1) && values[lane] == own) {
      result |= 1u << lane;
    }
  }
  return result;
}
template <typename T>
inline unsigned __match_all_sync(unsigned mask, T value, int* predicate, KilnSite site = KilnSite::here()) {
  const unsigned long long own = kiln_emulation::to_bits(value);
  const auto* values = kiln_emulation::exchange(mask, own, "__match_all_sync", site);
  const unsigned taking_part = static_cast<unsigned>(values[kiln_emulation::k_lanes_taking_part]);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((taking_part >> lane & 1) && values[lane] != own) {
      *predicate = 0;
      return 0;
    }
  }
  *predicate = 1;
  return taking_part;
}

#define KILN_REDUCE(name, type, expression)                                                                           \
  inline type name(unsigned mask, type value, KilnSite site = KilnSite::here()) {                                     \
    return kiln_emulation::reduce<type>(mask, value, #name, site, [](type a, type b) -> type { return expression; }); \
  }
KILN_REDUCE(__reduce_add_sync, unsigned, a + b)
KILN_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
KILN_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
KILN_REDUCE(__reduce_and_sync, unsigned, a& b)
KILN_REDUCE(__reduce_or_sync, unsigned, a | b)
KILN_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
KILN_REDUCE(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
KILN_REDUCE(__reduce_min_sync, int, a < b ? a : b)
KILN_REDUCE(__reduce_max_sync, int, a > b ? a : b)
#undef KILN_REDUCE
