// What the compiler's checks call when a kernel's access is one that a GPU would refuse or that leaves its array. The
// layouts are those of the undefined-behaviour sanitizer's run-time library, which is not linked.
extern "C" {
int snprintf(char* text, size_t bytes, const char* format, ...);

struct KilnSourceLocation {
  const char* file;
  unsigned line;
  unsigned column;
};

struct KilnTypeMismatch {
  KilnSourceLocation where;
  const void* type;
  unsigned char log_alignment;
  unsigned char kind;
};

struct KilnDivision {
  KilnSourceLocation where;
  const void* type;
};

struct KilnOutOfBounds {
  KilnSourceLocation where;
  const void* array;
  const void* index;
};

__attribute__((visibility("hidden"), used)) inline void __ubsan_handle_type_mismatch_v1(void* data, void* address) {
  static char message[96];
  const auto& mismatch = *static_cast<KilnTypeMismatch*>(data);
  snprintf(message, sizeof(message), "address %p is not one of a value aligned to %u bytes", address,
           1u << mismatch.log_alignment);
  kiln_emulation::fail(message, {mismatch.where.file, mismatch.where.line});
}

__attribute__((visibility("hidden"), used)) inline void __ubsan_handle_out_of_bounds(void* data, void* index) {
  static char message[96];
  const auto& where = static_cast<KilnOutOfBounds*>(data)->where;
  snprintf(message, sizeof(message), "index %lld is outside its array", reinterpret_cast<long long>(index));
  kiln_emulation::fail(message, {where.file, where.line});
}

/// A GPU goes on with any number; here the processor would end the process.
__attribute__((visibility("hidden"), used)) inline void __ubsan_handle_divrem_overflow(void* data, void*, void*) {
  const auto& where = static_cast<KilnDivision*>(data)->where;
  kiln_emulation::fail("a whole number is divided by zero", {where.file, where.line});
}
}
