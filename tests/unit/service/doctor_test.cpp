#include "kiln/doctor.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

using ::testing::HasSubstr;

class DoctorTest : public ServiceTest {
 protected:
  Finding cache() {
    const std::vector<Finding> findings = diagnose(options());
    const auto found = std::ranges::find(findings, "cache", &Finding::name);
    return found == findings.end() ? Finding{} : *found;
  }
};

TEST_F(DoctorTest, CountsEntries) {
  EXPECT_THAT(cache().summary, HasSubstr(", 0 entries, "));
  ask_anew(1);
  EXPECT_THAT(cache().summary, HasSubstr(", 1 entry, "));
  ask_anew(2);
  EXPECT_THAT(cache().summary, HasSubstr(", 2 entries, "));
  EXPECT_EQ(cache().health, Health::good);
}

}  // namespace
}  // namespace kiln::test
