# What is embedded into the library: the built-in templates, by name, and the headers that they and any other template
# may include as "kiln/NAME". Explicit, like every list of sources.
set(KILN_TEMPLATES permute_bucketed permute_channels permute_direct permute_direct_data permute_elements permute_rows permute_staged permute_tiled)
set(KILN_TEMPLATE_HEADERS bucketed.cuh digits.cuh direct.cuh ending.cuh exchange.cuh gather.cuh index_table.cuh lanes.cuh lines.cuh
    lines_in.cuh lines_out.cuh literal_table.cuh memory.cuh numbers.cuh pack.cuh segment.cuh segment_in.cuh segment_out.cuh slots.cuh stage_in.cuh
    stage_out.cuh table_source.cuh tile.cuh vector.cuh)
