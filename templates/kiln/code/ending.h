// A sample of the header that Kiln generates for the parameter `ending`: see values.h.
value
