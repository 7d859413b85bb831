#include <gmock/gmock.h>

#include <optional>

#include "gpu/kernel_fixture.hpp"
#include "jit/driver.hpp"
#include "jit/launch.hpp"
#include "jit/unload_queue.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

using test::Cuda;
using test::DeviceArray;
using test::GpuStream;
using test::require;

enum CaptureMode { global = 0, thread_local_mode = 1, relaxed = 2 };

/// A graph captured from `stream`, instantiated.
class Graph {
 public:
  explicit Graph(CUstream_st* stream) {
    const Cuda& cuda = test::Gpu::get().cuda();
    require(cuda.end_capture(stream, &graph_), "cuStreamEndCapture");
    require(cuda.graph_instantiate(&exec_, graph_, 0), "cuGraphInstantiate");
  }
  ~Graph() {
    const Cuda& cuda = test::Gpu::get().cuda();
    cuda.graph_exec_destroy(exec_);
    cuda.graph_destroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(CUstream_st* stream) const {
    require(test::Gpu::get().cuda().graph_launch(exec_, stream), "cuGraphLaunch");
  }

 private:
  CUgraph_st* graph_ = nullptr;
  CUgraphExec_st* exec_ = nullptr;
};

class CaptureTest : public test::KernelTest {
 protected:
  static constexpr std::size_t k_size = 1000;

  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    x.emplace(ramp(k_size));
    y.emplace(k_size);
  }
  void begin(const GpuStream& stream, CaptureMode mode) const {
    require(cuda().begin_capture(stream.get(), mode), "cuStreamBeginCapture");
  }
  void launch(const Kernel& kernel, const GpuStream& stream) const {
    kernel.launch(over(k_size, stream.get()), y->get(), x->get(), static_cast<unsigned>(k_size));
  }

  /// Releases a kernel while another is being captured; `waiting` libraries then wait to be unloaded. The capture
  /// survives.
  void release_in_capture(bool non_blocking, std::size_t waiting) const {
    auto driver = jit::Driver::open();
    Kernel kernel = get_scale(2.0F);
    auto artifact = std::make_shared<const Artifact>(get_scale(31.0F).artifact());
    auto released = jit::load(driver, artifact, "", {});
    GpuStream stream(non_blocking);
    begin(stream, global);
    launch(kernel, stream);
    released.clear();
    EXPECT_EQ(driver->unloads().waiting(), waiting);
    launch(kernel, stream);
    Graph graph(stream.get());
    graph.launch(stream.get());
    stream.synchronize();
    EXPECT_EQ(y->read(), times(2.0F, ramp(k_size)));
    jit::load(driver, artifact, "", {});
    EXPECT_EQ(driver->unloads().waiting(), 0u);
  }

  std::optional<DeviceArray<float>> x;
  std::optional<DeviceArray<float>> y;
};

TEST_F(CaptureTest, APreparedKernelIsCapturedAndTheGraphReplays) {
  Kernel kernel = get_scale(2.0F);  // never launched before: the capture must not be what loads its code
  GpuStream stream;
  begin(stream, global);
  launch(kernel, stream);
  Graph graph(stream.get());
  for (float factor : {1.0F, 5.0F, 7.0F}) {
    x->write(times(factor, ramp(k_size)));
    graph.launch(stream.get());
    stream.synchronize();
    EXPECT_EQ(y->read(), times(2.0F * factor, ramp(k_size)));
  }
}

TEST_F(CaptureTest, AFirstUseInACaptureIsRefusedAndTheCaptureSurvives) {
  Kernel prepared = get_scale(2.0F);
  for (CaptureMode mode : {global, thread_local_mode, relaxed}) {
    GpuStream stream;
    begin(stream, mode);
    try {
      get_scale(11.0F + static_cast<float>(mode));
      ADD_FAILURE() << "loaded in a capture of mode " << mode;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::capture_active) << error.what();
      EXPECT_THAT(error.what(), ::testing::HasSubstr("before the capture begins"));
    }
    launch(prepared, stream);
    Graph graph(stream.get());
    graph.launch(stream.get());
    stream.synchronize();
    EXPECT_EQ(y->read(), times(2.0F, ramp(k_size)));
  }
}

TEST_F(CaptureTest, WhatIsLoadedAlreadyIsFoundInACapture) {
  get_scale(2.0F);
  GpuStream stream;
  begin(stream, global);
  launch(get_scale(2.0F), stream);
  Graph graph(stream.get());
  graph.launch(stream.get());
  stream.synchronize();
  EXPECT_EQ(y->read(), times(2.0F, ramp(k_size)));
}

// The driver does not tell of a capture on a non-blocking stream; loading then leaves it intact.
TEST_F(CaptureTest, LoadingBesideACaptureOfANonBlockingStreamLeavesItIntact) {
  for (CaptureMode mode : {global, thread_local_mode, relaxed}) {
    GpuStream stream(/*non_blocking=*/true);
    begin(stream, mode);
    Kernel kernel = get_scale(21.0F + static_cast<float>(mode));
    launch(kernel, stream);
    Graph graph(stream.get());
    graph.launch(stream.get());
    stream.synchronize();
    EXPECT_EQ(y->read(), times(21.0F + static_cast<float>(mode), ramp(k_size)));
  }
}

TEST_F(CaptureTest, AKernelReleasedInACaptureIsUnloadedAfterIt) {
  release_in_capture(/*non_blocking=*/false, /*waiting=*/1);
}

// Not under compute-sanitizer, which waits for the device when code is unloaded and so ends the capture by itself.
TEST_F(CaptureTest, UnloadingBesideACaptureOfANonBlockingStreamLeavesItIntact) {
  release_in_capture(/*non_blocking=*/true, /*waiting=*/0);
}

}  // namespace
}  // namespace kiln
