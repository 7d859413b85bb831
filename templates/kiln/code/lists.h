// A sample of the header that Kiln generates for the parameter `lists`: see values.h.
;
