#include "emulation/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "emulation/sanitizers.hpp"

#if defined(__x86_64__) && !defined(KILN_FIBER_UCONTEXT)
#define KILN_FIBER_X86_64 1
#else
#include <ucontext.h>
#endif

namespace kiln::emulation {
namespace {

// More than the 512 KiB of local memory that a GPU's thread can have. Only pages that are touched are ever there.
constexpr std::size_t k_stack_bytes = std::size_t{1} << 20;

class Stack {
 public:
  Stack() {
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, page_ + k_stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    memory_ = static_cast<std::byte*>(memory);
    mprotect(memory_, page_, PROT_NONE);
  }
  ~Stack() {
    sanitizers::unpoison(bottom(), size());
    munmap(memory_, page_ + k_stack_bytes);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  std::byte* bottom() const noexcept { return memory_ + page_; }
  static constexpr std::size_t size() noexcept { return k_stack_bytes; }

 private:
  std::size_t page_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace

#ifdef KILN_FIBER_X86_64

extern "C" {
// Saves what the calling convention says a call keeps, stores the stack pointer, and does the reverse with the other.
void kiln_fiber_switch(void** save, void* load);
void kiln_fiber_start();
}

__asm__(R"(
.text
.hidden kiln_fiber_switch
.globl kiln_fiber_switch
.type kiln_fiber_switch, @function
.p2align 4
kiln_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kiln_fiber_switch, .-kiln_fiber_switch

.hidden kiln_fiber_start
.globl kiln_fiber_start
.type kiln_fiber_start, @function
.p2align 4
kiln_fiber_start:
  movq %r12, %rdi
  callq *%r13
  ud2
.size kiln_fiber_start, .-kiln_fiber_start
)");

/// The machine's state of a fiber that isn't running.
class Context {
 public:
  void prepare(const Stack& stack, void (*start)(void*), void* argument) noexcept {
    // What kiln_fiber_switch pops: r15, r14, r13, r12, rbx, rbp, and the address to return to. After that the stack is
    // aligned to 16 bytes, as a call wants it. New memory is zero, so that a debugger's walk ends here.
    void** frame = reinterpret_cast<void**>(stack.bottom() + stack.size()) - 9;
    frame[2] = reinterpret_cast<void*>(start);
    frame[3] = argument;
    frame[6] = reinterpret_cast<void*>(&kiln_fiber_start);
    stack_pointer_ = frame;
  }
  static void swap(Context& from, Context& to) noexcept { kiln_fiber_switch(&from.stack_pointer_, to.stack_pointer_); }

 private:
  void* stack_pointer_ = nullptr;
};

#else

class Context {
 public:
  void prepare(const Stack& stack, void (*start)(void*), void* argument) noexcept {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack.bottom();
    context_.uc_stack.ss_size = stack.size();
    context_.uc_link = nullptr;
    start_ = start;
    argument_ = argument;
    // makecontext passes ints only, so that the address of this goes in two halves.
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&Context::run), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  }
  static void swap(Context& from, Context& to) noexcept { swapcontext(&from.context_, &to.context_); }

 private:
  static void run(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<Context*>(static_cast<std::uintptr_t>(high) << 32 | low);
    self->start_(self->argument_);
  }

  ucontext_t context_{};
  void (*start_)(void*) = nullptr;
  void* argument_ = nullptr;
};

#endif

struct Fiber::State {
  std::unique_ptr<Stack> stack;  // none: the thread's own
  Context context;
  sanitizers::FiberState sanitizer;
  Body body = nullptr;
  void* argument = nullptr;
  State* previous = nullptr;  // that switched here last

  static void start(void* argument) {
    auto* self = static_cast<State*>(argument);
    self->arrived();
    self->body(self->argument);
  }
  void arrived() noexcept { sanitizers::after_switch(sanitizer, previous->sanitizer); }
};

Fiber::Fiber() : state_(std::make_unique<State>()) { sanitizers::adopt_thread(state_->sanitizer); }

Fiber::Fiber(Body body, void* argument) : state_(std::make_unique<State>()) {
  state_->stack = std::make_unique<Stack>();
  state_->body = body;
  state_->argument = argument;
  sanitizers::create(state_->sanitizer, state_->stack->bottom(), state_->stack->size());
  state_->context.prepare(*state_->stack, &State::start, state_.get());
}

Fiber::~Fiber() { sanitizers::destroy(state_->sanitizer); }

void Fiber::switch_from_to(Fiber& from, Fiber& to) noexcept {
  State& source = *from.state_;
  State& destination = *to.state_;
  destination.previous = &source;
  sanitizers::before_switch(source.sanitizer, destination.sanitizer);
  Context::swap(source.context, destination.context);
  source.arrived();
}

}  // namespace kiln::emulation
