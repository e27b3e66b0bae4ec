#include "kashi/engine/object_cache.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::engine {
namespace {

using ::testing::HasSubstr;

class ObjectCacheTest : public testing::Test {
 protected:
  ObjectCacheTest()
      : folder_(absl::StrCat(testing::TempDir(), "/cache.", std::random_device()(), ".",
                             testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~ObjectCacheTest() override { std::filesystem::remove_all(folder_); }

  ObjectCache Open() const { return ObjectCache::Open(folder_).value(); }
  static CompiledObject Object(absl::string_view code) { return {base::FingerprintOf(code), std::string(code)}; }
  std::string OnlyFile() const { return std::filesystem::directory_iterator(folder_)->path(); }

  const std::string folder_;
};

TEST_F(ObjectCacheTest, FindsWhatWasKept) {
  const CompiledObject a = Object(std::string("code\0with zeros", 15)), b = Object("");
  EXPECT_EQ(Open().Find(a.key), std::nullopt);
  EXPECT_TRUE(Open().Keep(a).ok());
  EXPECT_TRUE(Open().Keep(b).ok());
  EXPECT_TRUE(Open().Keep(a).ok());
  EXPECT_EQ(Open().Find(a.key), a.code);
  EXPECT_EQ(Open().Find(b.key), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()), 2);
}

TEST_F(ObjectCacheTest, DamagedFilesAreReplaced) {
  const CompiledObject a = Object("some code");
  ASSERT_TRUE(Open().Keep(a).ok());
  std::ifstream in(OnlyFile(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto write = [&](const std::string& bytes) { std::ofstream(OnlyFile(), std::ios::binary) << bytes; };
  for (size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    EXPECT_EQ(Open().Find(a.key), std::nullopt) << size;
    std::string changed = whole;
    changed[size] ^= 1;
    write(changed);
    EXPECT_EQ(Open().Find(a.key), std::nullopt) << size;
  }
  write(whole + " ");
  EXPECT_EQ(Open().Find(a.key), std::nullopt);
  EXPECT_TRUE(Open().Keep(a).ok());
  EXPECT_EQ(Open().Find(a.key), a.code);
}

TEST_F(ObjectCacheTest, FilesOfOthersAreReplaced) {
  const CompiledObject a = Object("code a"), b = Object("code b");
  ASSERT_TRUE(Open().Keep(a).ok());
  const std::string of_a = OnlyFile();
  ASSERT_TRUE(Open().Keep(b).ok());
  const std::string of_b = folder_ + "/" + b.key.ToString() + ".object";
  // Another key, a folder, a link, a file that others may write to.
  std::filesystem::copy_file(of_b, of_a, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Open().Find(a.key), std::nullopt);
  std::filesystem::remove(of_a);
  std::filesystem::create_directory(of_a);
  EXPECT_EQ(Open().Find(a.key), std::nullopt);
  EXPECT_FALSE(Open().Keep(a).ok());
  std::filesystem::remove(of_a);
  std::filesystem::create_symlink("/dev/zero", of_a);
  EXPECT_EQ(Open().Find(a.key), std::nullopt);
  EXPECT_TRUE(Open().Keep(a).ok());
  EXPECT_EQ(Open().Find(a.key), a.code);
  std::filesystem::permissions(of_a, std::filesystem::perms::all);
  EXPECT_EQ(Open().Find(a.key), std::nullopt);
  EXPECT_TRUE(Open().Keep(a).ok());
  EXPECT_EQ(Open().Find(a.key), a.code);
}

TEST_F(ObjectCacheTest, MakesFoldersForTheOwnerAlone) {
  const std::string inner = folder_ + "/a/b";
  ASSERT_TRUE(ObjectCache::Open(inner).ok());
  EXPECT_TRUE(ObjectCache::Open(inner).ok());
  EXPECT_EQ(std::filesystem::status(inner).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(ObjectCacheTest, RefusesFoldersThatOthersMayWrite) {
  std::filesystem::create_directories(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  EXPECT_THAT(ObjectCache::Open(folder_).status().ToString(), HasSubstr("other users may write to it"));
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all | std::filesystem::perms::group_read);
  EXPECT_TRUE(ObjectCache::Open(folder_).ok());
}

TEST_F(ObjectCacheTest, RefusesWhatIsNoFolder) {
  std::ofstream(folder_) << "text";
  EXPECT_THAT(ObjectCache::Open(folder_).status().ToString(), HasSubstr("it is no folder"));
  EXPECT_FALSE(ObjectCache::Open(folder_ + "/inner").ok());
}

TEST_F(ObjectCacheTest, KeepReportsErrors) {
  const ObjectCache cache = Open();
  std::filesystem::remove_all(folder_);
  EXPECT_THAT(cache.Keep(Object("x")).ToString(), HasSubstr("No such file"));
}

TEST_F(ObjectCacheTest, ManyWriters) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        const CompiledObject object = Object(absl::StrCat("code ", i));
        EXPECT_TRUE(Open().Keep(object).ok());
        EXPECT_EQ(Open().Find(object.key), object.code);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kashi::engine
