#include "cli/excerpt.hpp"
