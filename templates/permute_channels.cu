// y[o, j] = x[o, map[j]] for maps that turn images from planes to pixels, x[c][p] to y[p][c], or back. Units change
// places in registers, whole vectors of them go through shared memory: from memory and to memory in the order of
// either tensor, 16 bytes a thread.
//
// A `unit` moves as a whole; callers align their pointers to `element`. A row has `images` images of `plane` pixels, a
// vector's at least, each of `channels` units, 2 at least. `to_pixels`: y has the pixels, one after another, and x the
// planes; else it is the other way round.
//
// A group is as many neighbouring pixels as a vector has units: a vector of each plane, or one after another `channels`
// vectors of pixels. Groups are counted over images and rows, so that the pixels of a block's `threads` groups are one
// run of bytes, its tile; where planes are not whole vectors, some groups are in two images. Shared memory has the tile
// as it is, for an even number of channels with a vector's room behind each eight, so that neighbouring groups are in
// other banks.
//
// Addresses may lie between two vectors: 16 bytes are put together from the two that they lie in, both where they are
// read and where they are written. What is in no whole vector moves element by element.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter channels: u32
// kiln: parameter plane: u64
// kiln: parameter images: u64
// kiln: parameter to_pixels: bool
// kiln: parameter threads: u32
// kiln: entry permute
#include "kiln/exchange.cuh"
#include "kiln/values.h"
#include "kiln/vector.cuh"

extern __shared__ uint4 kiln_shared[];

namespace kiln {

using Order = Exchange<unit, channels, to_pixels>;
using Words = unsigned[Order::k_words];

constexpr unsigned k_pixels = 16 / sizeof(unit);  // of a group
constexpr unsigned k_pixel_bytes = channels * sizeof(unit);
constexpr unsigned k_group_bytes = 16 * channels;
constexpr unsigned k_tile_bytes = threads * k_group_bytes;
constexpr unsigned long long k_plane_bytes = plane * sizeof(unit);
constexpr unsigned long long k_image_bytes = channels * k_plane_bytes;
constexpr bool k_has_whole_groups = plane % k_pixels == 0;

// Of a multiprocessor, as far as registers go: left to itself, the compiler takes more of them, or spills some.
constexpr unsigned k_blocks_wanted = k_has_whole_groups ? 5 : 4;
constexpr unsigned k_blocks_at_most = KILN_RESIDENT_THREADS / threads;
constexpr unsigned k_blocks = k_blocks_at_most < k_blocks_wanted ? k_blocks_at_most : k_blocks_wanted;

/// Byte `at` of the tile in shared memory.
__device__ __forceinline__ unsigned char* shared_at(unsigned at) {
  return reinterpret_cast<unsigned char*>(kiln_shared) + at + (channels % 2 == 0 ? at / 128 * 16 : 0);
}

/// The first address from this one on that a vector starts at.
__device__ __forceinline__ const unsigned char* next_vector(const unsigned char* address) {
  return address + (16 - phase_of(address)) % 16;
}

/// Global memory that a tensor has.
struct Bounds {
  const unsigned char* begin;
  const unsigned char* end;

  /// Are the two vectors that read_moved reads its own?
  __device__ __forceinline__ bool has_both(const unsigned char* address) const {
    const unsigned char* high = next_vector(address);
    return high - 16 >= begin && high + 16 <= end;
  }
};

__device__ __forceinline__ Vector read_moved(const unsigned char* address) {
  const unsigned char* high = next_vector(address);
  return realign<element>(vector_of(load_constant<uint4>(high - 16)), vector_of(load_constant<uint4>(high)),
                          static_cast<unsigned>(high - address));
}

/// A thread's.
struct Group {
  unsigned long long at;      // pixels before it in its image
  unsigned long long planes;  // bytes before it in the tensor of planes
  unsigned bytes;             // that there are of it
  bool is_whole;              // and in one image

  /// Byte `byte` of its pixels, among the planes.
  __device__ __forceinline__ unsigned long long place(unsigned byte) const {
    const unsigned pixel = byte / k_pixel_bytes;
    const unsigned channel = byte / sizeof(unit) % channels;
    return planes + channel * k_plane_bytes + pixel * sizeof(unit) + byte % sizeof(unit) +
           (at + pixel < plane ? 0 : k_image_bytes - k_plane_bytes);
  }
};

/// Of `pixels` in all.
__device__ __forceinline__ Group group_of(unsigned long long number, unsigned long long pixels) {
  const unsigned long long first = number * k_pixels;
  const unsigned long long left = first < pixels ? pixels - first : 0;
  const unsigned long long image = first / plane;
  Group group;
  group.at = first - image * plane;
  group.planes = image * k_image_bytes + group.at * sizeof(unit);
  group.bytes = left < k_pixels ? static_cast<unsigned>(left) * k_pixel_bytes : k_group_bytes;
  group.is_whole = left != 0 && (k_has_whole_groups || group.at + k_pixels <= plane);
  return group;
}

__device__ __forceinline__ void keep(Words& words, unsigned number, const Vector& vector) {
#pragma unroll
  for (unsigned word = 0; word < 4; ++word) {
    words[4 * number + word] = vector.words[word];
  }
}
__device__ __forceinline__ Vector vector_in(const Words& words, unsigned number) {
  return {{words[4 * number], words[4 * number + 1], words[4 * number + 2], words[4 * number + 3]}};
}

/// Bytes [first, behind) from byte `place` of the tile on, element by element.
__device__ __forceinline__ void write_elements(unsigned char* to, unsigned place, unsigned first, unsigned behind) {
#pragma unroll 1
  for (unsigned byte = first; byte < behind; byte += sizeof(element)) {
    store(to + byte, load<element>(shared_at(place + byte)));
  }
}

/// A thread's group of the planes of x.
__device__ __forceinline__ void read_planes(const Group& group, const Bounds& x) {
  const unsigned char* from = x.begin + group.planes;
  const unsigned at = threadIdx.x * k_group_bytes;
  const bool is_aligned_group = k_has_whole_groups && is_aligned(from, 16);
  if (group.is_whole &&
      (is_aligned_group || (x.has_both(from) && x.has_both(from + (k_image_bytes - k_plane_bytes))))) {
    Words planes;
    if (is_aligned_group) {
#pragma unroll
      for (unsigned channel = 0; channel < channels; ++channel) {
        keep(planes, channel, vector_of(load_constant<uint4>(from + channel * k_plane_bytes)));
      }
    } else {
#pragma unroll
      for (unsigned channel = 0; channel < channels; ++channel) {
        keep(planes, channel, read_moved(from + channel * k_plane_bytes));
      }
    }
    Words pixels;
    exchange<Order>(planes, pixels);
#pragma unroll
    for (unsigned number = 0; number < channels; ++number) {
      store(shared_at(at + 16 * number), bits_of(vector_in(pixels, number)));
    }
  } else {
#pragma unroll 1
    for (unsigned byte = 0; byte < group.bytes; byte += sizeof(element)) {
      store(shared_at(at + byte), load_constant<element>(x.begin + group.place(byte)));
    }
  }
}

/// The tile of the pixels of x, `bytes` from `from` on.
__device__ __forceinline__ void read_pixels(const unsigned char* from, unsigned bytes, const Bounds& x) {
  if (bytes == k_tile_bytes && is_aligned(from, 16)) {
    Words words;
#pragma unroll
    for (unsigned turn = 0; turn < channels; ++turn) {
      keep(words, turn, vector_of(load_constant<uint4>(from + 16 * (threadIdx.x + turn * threads))));
    }
#pragma unroll
    for (unsigned turn = 0; turn < channels; ++turn) {
      store(shared_at(16 * (threadIdx.x + turn * threads)), bits_of(vector_in(words, turn)));
    }
    return;
  }
#pragma unroll 1
  for (unsigned at = 16 * threadIdx.x; at < bytes; at += 16 * threads) {
    if (x.has_both(from + at)) {
      store(shared_at(at), bits_of(read_moved(from + at)));
    } else {
#pragma unroll 1
      for (unsigned byte = at; byte < at + 16 && byte < bytes; byte += sizeof(element)) {
        store(shared_at(byte), load_constant<element>(from + byte));
      }
    }
  }
}

/// The tile as pixels of y, `bytes` from `to` on.
__device__ __forceinline__ void write_pixels(unsigned char* to, unsigned bytes) {
  if (bytes == k_tile_bytes && is_aligned(to, 16)) {
#pragma unroll
    for (unsigned turn = 0; turn < channels; ++turn) {
      const unsigned at = 16 * (threadIdx.x + turn * threads);
      store_streaming(to + at, load<uint4>(shared_at(at)));
    }
    return;
  }
  const unsigned phase = phase_of(to);
#pragma unroll 1
  for (unsigned end = 16 * threadIdx.x; end < bytes + phase; end += 16 * threads) {
    if (end >= 16 && end + 16 <= bytes) {
      const Vector low = vector_of(load<uint4>(shared_at(end - 16)));
      const Vector high = vector_of(load<uint4>(shared_at(end)));
      store_streaming(to + end - phase, bits_of(realign<element>(low, high, phase)));
    } else {
      const unsigned behind = end + 16 - phase;
      write_elements(to, 0, end < phase ? 0 : end - phase, behind < bytes ? behind : bytes);
    }
  }
}

/// A thread's group to the planes of y. All threads call it.
__device__ __forceinline__ void write_planes(const Group& group, unsigned char* y) {
  unsigned char* to = y + group.planes;
  const unsigned at = threadIdx.x * k_group_bytes;
  const bool is_aligned_tile = k_has_whole_groups && is_aligned(y, 16);
  if (group.is_whole) {
    Words pixels;
#pragma unroll
    for (unsigned number = 0; number < channels; ++number) {
      keep(pixels, number, vector_of(load<uint4>(shared_at(at + 16 * number))));
    }
    Words planes;
    exchange<Order>(pixels, planes);
#pragma unroll
    for (unsigned channel = 0; channel < channels; ++channel) {
      const uint4 vector = bits_of(vector_in(planes, channel));
      if (is_aligned_tile) {
        store_streaming(to + channel * k_plane_bytes, vector);
      } else {
        store(shared_at(at + 16 * channel), vector);
      }
    }
  }
  if (is_aligned_tile) {
    return;
  }
  __syncthreads();
  // A vector of y is written by the thread that has its end, together with what the one before has.
  if (group.is_whole) {
    const bool goes_on = threadIdx.x != 0 && group.at >= k_pixels;
    const bool ends = threadIdx.x == threads - 1 || group.at + 2 * k_pixels > plane;
#pragma unroll 1
    for (unsigned channel = 0; channel < channels; ++channel, to += k_plane_bytes) {
      const unsigned phase = phase_of(to);
      const unsigned place = at + 16 * channel;
      const bool has_end = goes_on || phase == 0;
      if (has_end) {
        const Vector here = vector_of(load<uint4>(shared_at(place)));
        const Vector before = goes_on ? vector_of(load<uint4>(shared_at(place - k_group_bytes))) : here;
        store_streaming(to - phase, bits_of(realign<element>(before, here, phase)));
      }
      write_elements(to, place, has_end ? 16 - phase : 0, ends ? 16 : 16 - phase);
    }
  } else {
#pragma unroll 1
    for (unsigned byte = 0; byte < group.bytes; byte += sizeof(element)) {
      store(y + group.place(byte), load<element>(shared_at(at + byte)));
    }
  }
}

}  // namespace kiln

__global__ void __launch_bounds__(kiln::threads, kiln::k_blocks)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  const unsigned long long block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  const unsigned long long first = block * kiln::k_tile_bytes;  // of all bytes
  const unsigned long long pixels = rows * (kiln::images * kiln::plane);
  const unsigned long long all = pixels * kiln::k_pixel_bytes;
  if (first < all) {
    const unsigned bytes = all - first < kiln::k_tile_bytes ? static_cast<unsigned>(all - first) : kiln::k_tile_bytes;
    unsigned char* to = static_cast<unsigned char*>(y);
    const unsigned char* from = static_cast<const unsigned char*>(x);
    const unsigned long long group = block * kiln::threads + threadIdx.x;
    if constexpr (kiln::to_pixels) {
      kiln::read_planes(kiln::group_of(group, pixels), {from, from + all});
      __syncthreads();
      kiln::write_pixels(to + first, bytes);
    } else {
      kiln::read_pixels(from + first, bytes, {from, from + all});
      __syncthreads();
      kiln::write_planes(kiln::group_of(group, pixels), to);
    }
  }
}
