// Evaluation, devices and streams: what runs rather than what is computed.
#include "cpu/profile.h"
#include "guard.h"

namespace mx = mlx::core;
using namespace cmlx;

namespace {
mx::Device device_of(int32_t device) { return device == 0 ? mx::Device(mx::Device::cpu) : mx::Device(mx::Device::gpu); }

cmlx_stream as_c(const mx::Stream &s) {
  return {s.index, s.device.type == mx::Device::cpu ? 0 : 1, s.device.index};
}

cmlx_stream missing(int32_t device) { return {-1, device, 0}; }
}  // namespace

bool cmlx_eval(const cmlx_array *handles, size_t count) {
  return run([&] {
    const rmx::cpu::Timed timed(rmx::cpu::Stage::evaluation);
    mx::eval(arrays(handles, count));
  });
}

bool cmlx_async_eval(const cmlx_array *handles, size_t count) {
  return run([&] { mx::async_eval(arrays(handles, count)); });
}

bool cmlx_gpu_is_available(void) {
  return guarded(false, [] { return mx::is_available(mx::Device::gpu); });
}

cmlx_stream cmlx_default_stream(int32_t device) {
  return guarded(missing(device), [&] { return as_c(mx::default_stream(device_of(device))); });
}

cmlx_stream cmlx_new_stream(int32_t device) {
  return guarded(missing(device), [&] { return as_c(mx::new_stream(device_of(device))); });
}

bool cmlx_synchronize(cmlx_stream s) {
  return run([&] { mx::synchronize(stream(s)); });
}
