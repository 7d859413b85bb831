#include "cache/private_group.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

constexpr const char* k_users =
    "root:x:0:0:root:/root:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash\n"
    "bob:x:1001:1001::/home/bob:/bin/bash\n"
    "eve:x:1002:1002::/home/eve:/bin/bash\n"
    "guest:x:1003:1002::/home/guest:/bin/bash\n"
    "dan:x:1004:100::/home/dan:/bin/bash\n";
constexpr const char* k_groups =
    "root:x:0:\n"
    "daemon:x:1:\n"
    "users:x:100:\n"
    "ada:x:1000:\n"
    "bob:x:1001:bob,ada\n"
    "eve:x:1002:\n"
    "staff:x:50:ada\n";

class PrivateGroupTest : public ::testing::Test {
 protected:
  bool is_private(gid_t group, uid_t uid, const std::string& users = k_users, const std::string& groups = k_groups) {
    const AccountFiles files{root_.path() / "passwd", root_.path() / "group"};
    test::write_file(files.users, users);
    test::write_file(files.groups, groups);
    return is_private_group(group, uid, files);
  }
  const test::TempDir root_;
};

TEST_F(PrivateGroupTest, IsTheGroupOfOneUserAlone) {
  EXPECT_TRUE(is_private(1000, 1000));
  EXPECT_TRUE(is_private(0, 0));
  EXPECT_TRUE(is_private(1000, 1000, k_users, "ada:x:1000:ada\n")) << "listed as a member as well";
}

TEST_F(PrivateGroupTest, IsNotThatOfAnother) {
  EXPECT_FALSE(is_private(1000, 1001));
  EXPECT_FALSE(is_private(0, 1000));
  EXPECT_FALSE(is_private(1001, 1000));
}

TEST_F(PrivateGroupTest, HasNoOtherMember) {
  EXPECT_FALSE(is_private(1001, 1001)) << "ada is listed";
  EXPECT_FALSE(is_private(1002, 1002)) << "it is the primary group of guest too";
  EXPECT_FALSE(is_private(1000, 1000, k_users, std::string(k_groups) + "extra:x:1000:bob\n")) << "a second line";
}

TEST_F(PrivateGroupTest, HasTheUsersName) {
  EXPECT_FALSE(is_private(100, 1004)) << "dan is alone in users today";
  EXPECT_FALSE(is_private(50, 1000)) << "not the primary group";
}

TEST_F(PrivateGroupTest, IsNotAssumedWhereAccountsAreNotListed) {
  EXPECT_FALSE(is_private(4000, 4000));
  EXPECT_FALSE(is_private(1000, 1000, k_users, "root:x:0:\n"));
  EXPECT_FALSE(is_private(1000, 1000, "", k_groups));
  EXPECT_FALSE(is_private_group(1000, 1000, {root_.path() / "none", root_.path() / "none"}));
  EXPECT_FALSE(is_private(1000, 1000, k_users, "ada:x:1000:\nlong:x:7:" + std::string(40000, 'a') + "\n"))
      << "what follows a line too long to read is not known";
}

}  // namespace
}  // namespace kiln::cache
