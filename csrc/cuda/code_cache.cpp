// Compiled kernels on the disk, shared by the processes of a user.
//
// A file has a header, the key and the code. It gets its name when it is complete, so that a reader
// sees all of it or nothing; keys are compared, so that two with the same hash are told apart; a
// checksum finds what a disk or somebody has damaged. The oldest files go when there are too many.
#include "cuda/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/crc32.h"
#include "core/text.h"

namespace fb::cuda {
namespace {

constexpr char kMagic[8] = {'F', 'B', 'C', 'U', 'D', 'A', '0', '1'};

// How much is kept; a variable makes it less for the tests, or more.
int64_t most_bytes() {
  const char* const megabytes = std::getenv("FLAMBEAU_CUDA_CACHE_MB");
  return (megabytes ? std::atoll(megabytes) : 256) * (int64_t{1} << 20);
}

struct Header {
  char magic[8];
  uint64_t key_bytes, code_bytes;
  uint32_t checksum;  // of key and code
  uint32_t reserved;
};

uint64_t hash_of(const std::string& text) {  // FNV-1a
  uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

std::string file_of(const std::string& folder, const std::string& key) {
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.fbk", static_cast<unsigned long long>(hash_of(key)));
  return folder + name;
}

uint32_t checksum_of(const std::string& body) { return crc32(body.data(), body.size()); }

struct File {
  explicit File(std::FILE* file) : file(file) {}
  ~File() {
    if (file) std::fclose(file);
  }
  std::FILE* file;
};

// Makes a folder and those that it is in.
bool make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  const size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == 0 || slash == std::string::npos) return false;
  return make_folder(path.substr(0, slash)) && mkdir(path.c_str(), 0700) == 0;
}

// Removes the oldest files until three quarters of the room are left in use.
void make_room(const std::string& folder) {
  struct Entry {
    std::string path;
    int64_t bytes, time;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  DIR* const opened = opendir(folder.c_str());
  if (!opened) return;
  while (const dirent* each = readdir(opened)) {
    const std::string path = folder + '/' + each->d_name;
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    entries.push_back({path, status.st_size, status.st_mtime});
    total += status.st_size;
  }
  closedir(opened);
  const int64_t most = most_bytes();
  if (total <= most) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& entry : entries) {
    if (total <= most / 4 * 3) return;
    if (std::remove(entry.path.c_str()) == 0) total -= entry.bytes;
  }
}

}  // namespace

std::string cache_folder() {
  if (const char* own = std::getenv("FLAMBEAU_CUDA_CACHE")) return own;
  const char* const base = std::getenv("XDG_CACHE_HOME");
  if (base && *base) return std::string(base) + "/flambeau/cuda";
  const char* const home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/flambeau/cuda" : std::string();
}

std::optional<std::string> load_code(const std::string& key) {
  const std::string folder = cache_folder();
  if (folder.empty()) return std::nullopt;
  const std::string path = file_of(folder, key);
  const File in(std::fopen(path.c_str(), "rb"));
  if (!in.file) return std::nullopt;
  struct stat status;
  Header header;
  if (fstat(fileno(in.file), &status) != 0 || std::fread(&header, sizeof header, 1, in.file) != 1 ||
      std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key_bytes != key.size() ||
      static_cast<uint64_t>(status.st_size) - sizeof header - header.key_bytes != header.code_bytes)
    return std::nullopt;
  std::string body(header.key_bytes + header.code_bytes, '\0');
  if (std::fread(body.data(), 1, body.size(), in.file) != body.size() ||
      checksum_of(body) != header.checksum || body.compare(0, key.size(), key) != 0)
    return std::nullopt;
  // What is used stays longest.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return body.substr(key.size());
}

void store_code(const std::string& key, const std::string& code) {
  const std::string folder = cache_folder();
  if (folder.empty() || !make_folder(folder)) return;
  const std::string path = file_of(folder, key);
  static std::atomic<int> number{0};
  const std::string fresh = message_of(path, '.', static_cast<int64_t>(getpid()), '.', ++number);
  const std::string body = key + code;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_bytes = key.size();
  header.code_bytes = code.size();
  header.checksum = checksum_of(body);
  bool complete = false;
  {
    const File out(std::fopen(fresh.c_str(), "wb"));
    if (!out.file) return;
    complete = std::fwrite(&header, sizeof header, 1, out.file) == 1 &&
               std::fwrite(body.data(), 1, body.size(), out.file) == body.size() &&
               std::fflush(out.file) == 0;
  }
  if (!complete || std::rename(fresh.c_str(), path.c_str()) != 0) {
    std::remove(fresh.c_str());
    return;
  }
  make_room(folder);
}

}  // namespace fb::cuda
