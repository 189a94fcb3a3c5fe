// Tensors of `run` in device memory, between canaries.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_PLACEDTENSORS_H
#define SELVEDGE_TOOLS_SELVEDGE_PLACEDTENSORS_H

#include "selvedge/Device.h"
#include "tools/selvedge/BitCompare.h"
#include "tools/selvedge/GuardedImage.h"
#include "tools/selvedge/RunDevices.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace selvedge::cli {

/// What tensors are to hold, by name.
using Images = std::map<std::string, std::shared_ptr<const GuardedImage>>;

/// The inputs, or what is written to.
Result<Images> makeImages(const Problem &problem, const Execution &execution,
                          bool written);

/// An image in device memory.
class Placed {
public:
  /// Places an image; errors name the tensor.
  static Result<Placed> upload(const Device &device, const std::string &name,
                               std::shared_ptr<const GuardedImage> image);

  /// Room for the same image, which restore() puts there.
  Result<Placed> makeRoom(const Device &device, const std::string &name) const;
  /// Copies all bytes of another one of the same image.
  Status restore(const Device &device, const Placed &from) const;
  /// Sets the i32 at `flag` to 1 where any byte differs from another one of the
  /// same image.
  Status compare(const BitCompare &compare, const Placed &other,
                 void *flag) const;

  const GuardedImage &getImage() const { return *image; }
  TensorView view() const { return image->view(buffer.data()); }
  /// The bytes that there are now.
  Status download(const Device &device, std::vector<std::byte> &now) const;

private:
  Placed(std::shared_ptr<const GuardedImage> image, DeviceBuffer buffer)
      : image(std::move(image)), buffer(std::move(buffer)) {}
  static Result<Placed> allocate(const Device &device, const std::string &name,
                                 std::shared_ptr<const GuardedImage> image);

  std::shared_ptr<const GuardedImage> image;
  /// A multiple of what BitCompare compares.
  DeviceBuffer buffer;
};

/// Tensors by name.
using PlacedTensors = std::map<std::string, Placed>;

Result<PlacedTensors> placeTensors(const Device &device, const Images &images);

/// The dims of a launch of a program, with the sizes that it chooses on a
/// device.
Result<DimValues> launchedDims(const Manifest &program, const Device &device,
                               const Problem &problem);

/// The workspace of a program, poisoned by the types of the temps in it.
Result<Placed> placeWorkspace(const Manifest &program, const Device &device,
                              Poison poison, const Problem &problem);

/// Downloads every tensor and checks canaries and gaps, and that inputs are as
/// they were; what was written to.
Result<Outputs> checkTensors(const Problem &problem, const Device &device,
                             const PlacedTensors &placed);

/// The same of the workspace.
Status checkWorkspace(const Device &device, const Placed &workspace);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_PLACEDTENSORS_H
