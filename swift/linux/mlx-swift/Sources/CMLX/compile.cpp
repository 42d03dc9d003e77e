// Compiled functions: a traced graph that MLX keeps by id and may fuse. On the CPU, MLX's fusion runs a C++ compiler at
// run time, which a bare machine has not; the Swift side calls the function itself there and comes here only for a GPU.
#include <mlx/compile_impl.h>

#include "guard.h"

namespace mx = mlx::core;
using namespace cmlx;

namespace {
std::vector<mx::array> traced(cmlx_trace trace, void *context, const std::vector<mx::array> &tracers) {
  std::vector<cmlx_array_object> objects;
  objects.reserve(tracers.size());
  std::vector<cmlx_array> handles;
  for (auto &tracer : tracers) {
    objects.push_back({tracer});
    handles.push_back(&objects.back());
  }
  auto list = trace(context, handles.data(), handles.size());
  if (list == nullptr) throw std::runtime_error(cmlx_last_error());
  auto values = std::move(list->values);
  cmlx_list_free(list);
  return values;
}
}  // namespace

cmlx_list cmlx_compiled_call(uintptr_t id, bool shapeless, cmlx_trace trace, void *context, const cmlx_array *inputs,
                             size_t count) {
  return make_list([&] {
    auto body = [trace, context](const std::vector<mx::array> &tracers) { return traced(trace, context, tracers); };
    return mx::detail::compile(body, id, shapeless)(arrays(inputs, count));
  });
}

void cmlx_compiled_erase(uintptr_t id) {
  run([&] { mx::detail::compile_erase(id); });
}

void cmlx_set_compile_enabled(bool enabled) {
  run([&] { enabled ? mx::enable_compile() : mx::disable_compile(); });
}
