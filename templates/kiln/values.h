// A sample of the header that Kiln generates for each request, so that editors and host compilers can read the
// templates: every parameter of the built-in templates, with values for a map of 36 floats. Never part of the library.
#pragma once

namespace kiln {

struct F32;

using unit = unsigned int;
using element = unsigned int;
using offset = unsigned int;
inline constexpr unsigned int blocks_out = 36u;
inline constexpr unsigned int blocks_in = 36u;
inline constexpr unsigned long long units_per_block = 1ull;
inline constexpr unsigned int row_out = 36u;
inline constexpr unsigned int row_in = 36u;
inline constexpr unsigned int lanes = 1u;
inline constexpr unsigned int rows_per_tile = 128u;
inline constexpr unsigned int period_rows = 1u;
inline constexpr unsigned long long stride_out = 144ull;
inline constexpr unsigned long long stride_in = 144ull;
inline constexpr unsigned int line_rows = 1u;
inline constexpr unsigned int lane_lines = 28u;
inline constexpr unsigned int lane_distance = 28u;
inline constexpr bool in_place = false;
inline constexpr bool has_ending = false;
using from = F32;
using to = F32;
inline constexpr unsigned int source_segment = 16u;
inline constexpr unsigned int target_segment = 16u;
inline constexpr unsigned int out_vectors = 6u;
inline constexpr unsigned int in_vectors = 6u;
inline constexpr unsigned int batch = 4u;
inline constexpr unsigned int resident = 1u;
inline constexpr unsigned int threads = 288u;
inline constexpr unsigned int resident_threads = 2048u;
inline constexpr bool asynchronous = false;
inline constexpr unsigned int index_bits = 8u;
inline constexpr unsigned int table_bytes = 0u;
// A transpose of 6 x 6 as one tile
inline constexpr unsigned int tiles = 1u;
inline constexpr unsigned int outer_digits_length = 3u;
inline constexpr long long outer_digits[3] = {1ll, 0ll, 0ll};
inline constexpr unsigned int load_digits_length = 5u;
inline constexpr long long load_digits[5] = {36ll, 1ll, 4ll, 0ll, 0ll};
inline constexpr unsigned long long load_base = 0ull;
inline constexpr unsigned int load_edges_length = 2u;
inline constexpr long long load_edges[2] = {0ll, 0ll};
inline constexpr unsigned int load_units = 4u;
inline constexpr unsigned int store_digits_length = 10u;
inline constexpr long long store_digits[10] = {6ll, 1ll, 24ll, 0ll, 0ll, 6ll, 6ll, 4ll, 0ll, 0ll};
inline constexpr unsigned int store_base = 0u;
inline constexpr unsigned int store_units = 4u;
inline constexpr unsigned int edge_a_length = 5u;
inline constexpr long long edge_a[5] = {0ll, 0ll, 0ll, 0ll, 0ll};
inline constexpr unsigned int edge_b_length = 5u;
inline constexpr long long edge_b[5] = {0ll, 0ll, 0ll, 0ll, 0ll};
inline constexpr bool wraps = false;
// An image of 3 channels
inline constexpr unsigned int channels = 3u;
inline constexpr unsigned long long plane = 12ull;
inline constexpr unsigned long long images = 1ull;
inline constexpr bool to_pixels = true;
// The map [5, 1, 8, 16, 4, 32, 23, 12, 33, …]: eight entries a word
inline constexpr unsigned int table_length = 5u;
inline constexpr unsigned long long table[5] = {0x0c17200410080105ull, 0x1a121d0d22161521ull, 0x0f0e11180b071e14ull,
                                                0x1b00191f1c090623ull, 0x00000000020a0313ull};

}  // namespace kiln
