# cmake -DOUTPUT=FILE.cpp -DINPUTS="a;b" -P embed.cmake: the texts one after the other, as one string in C++.
set(text "")
foreach(input IN LISTS INPUTS)
  file(READ ${input} part)
  string(REPLACE "#pragma once\n" "" part "${part}")
  string(APPEND text "${part}\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"emulation/cuda_emulation.hpp\"\n\nnamespace kiln::emulation {\n\n"
  "const std::string_view k_cuda_emulation = R\"kiln_text(${text})kiln_text\";\n\n}  // namespace kiln::emulation\n")
