// Memory in a temporary file: the system writes parts of it to disk and reads them again when other
// work needs the memory.
#pragma once

#include <cstddef>
#include <string>

namespace bosquet {

// Maps a new file of this size in the folder. The file has no name: the system deletes it when it
// is unmapped, also if the process is killed. Its space on the disk is reserved now, so that a full
// disk is an error here and not a crash at a later write.
void* map_temporary_file(std::size_t bytes, const std::string& folder);
void unmap_temporary_file(void* data, std::size_t bytes);

}  // namespace bosquet
