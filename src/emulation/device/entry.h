// How the library calls a kernel: the wrapper file names the source's entries and ends with KILN_EMULATION_MODULE.
namespace kiln_emulation {

template <auto Kernel>
struct Launcher;

template <typename... Parameters, void (*Kernel)(Parameters...)>
struct Launcher<Kernel> {
  static constexpr unsigned sizes[] = {static_cast<unsigned>(sizeof(Parameters))..., 0};

  // A list in braces is evaluated from left to right.
  struct Call {
    explicit Call(Parameters... parameters) { Kernel(parameters...); }
  };
  static void run([[maybe_unused]] void** argument) { Call{*static_cast<Parameters*>(*argument++)...}; }
  static constexpr Entry entry() { return {&run, sizes, sizeof...(Parameters)}; }
};

}  // namespace kiln_emulation

#define KILN_EMULATION_MODULE(...)                                                                  \
  static constexpr kiln_emulation::Entry kiln_emulation_entries[] = {__VA_ARGS__};                  \
  extern "C" {                                                                                      \
  extern __attribute__((visibility("default"))) const kiln_emulation::Module kiln_emulation_module; \
  const kiln_emulation::Module kiln_emulation_module = {                                            \
      &kiln_emulation::hooks,                                                                       \
      reinterpret_cast<kiln_emulation::Index3*>(&threadIdx),                                        \
      reinterpret_cast<kiln_emulation::Index3*>(&blockIdx),                                         \
      reinterpret_cast<kiln_emulation::Index3*>(&blockDim),                                         \
      reinterpret_cast<kiln_emulation::Index3*>(&gridDim),                                          \
      reinterpret_cast<kiln_emulation::Index3*>(&kiln_emulation::cluster_dim),                      \
      kiln_emulation::dynamic_shared,                                                               \
      __start_kiln_shared,                                                                          \
      __stop_kiln_shared,                                                                           \
      kiln_emulation_entries,                                                                       \
      sizeof(kiln_emulation_entries) / sizeof(kiln_emulation_entries[0])};                          \
  }
