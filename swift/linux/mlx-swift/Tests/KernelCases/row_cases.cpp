// Kernels of one row against float64: RMS norm, SwiGLU, rotary embedding, conversions.
#include <algorithm>

#include "elements.h"
#include "kinds.h"

namespace rmx::cpu::cases {

namespace {

int odd_width(Random& random) {
  return random.pick({1, 7, 15, 16, 17, 64, 80, 128, 576, 1536, random.between(1, 2000)});
}

/// A copy that ends where its memory ends.
Exact exactly(const std::vector<float>& values, int offset) {
  Exact out(static_cast<int64_t>(values.size()) * 4, offset * 4);
  std::copy(values.begin(), values.end(), out.data<float>());
  return out;
}

}  // namespace

void norm(Case& item) {
  const int width = odd_width(item.random), offset = item.random.between(0, 3);
  const bool weighted = item.random.chance(75);
  const float epsilon = item.random.pick({1e-5f, 1e-6f, 0.0f});
  const float scale = std::ldexp(1.0f, item.random.pick({0, 0, -20, 12}));
  item.report.describe("width " + std::to_string(width) + (weighted ? "" : ", no weight"));
  const std::vector<float> row = item.random.normals(width, scale), weight = item.random.normals(width);
  const Exact in = exactly(row, offset), factors = exactly(weight, 0), out(width * 4);
  double squares = 0;
  for (float value : row) squares += static_cast<double>(value) * value;
  const double root = std::sqrt(squares / width + epsilon);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    kernel.rms_norm(in.data<float>(), width, weighted ? factors.data<float>() : nullptr, epsilon, out.data<float>());
    // Half of what the sum passes, since its root is taken; then root, division, two products.
    const double passed = 0.5 * ((width + kernel.lanes - 1) / kernel.lanes + log2_of(kernel.lanes) + 5) + 4;
    for (int i = 0; i < width; i++) {
      const double wanted = root == 0 ? 0 : row[i] / root * (weighted ? weight[i] : 1);
      if (root == 0) continue;
      item.report.expect_within(
          std::fabs(out.data<float>()[i] - wanted), roundings(passed) * std::fabs(wanted) + 0x1p-140,
          variant + ", element " + std::to_string(i));
    }
    const Exact in_place = exactly(row, 0);
    float* same = in_place.data<float>();
    kernel.rms_norm(same, width, weighted ? factors.data<float>() : nullptr, epsilon, same);
    item.report.expect(same_bits(same, out.data<float>(), width), variant + ": other bits in place");
  });
}

void swiglu(Case& item) {
  const int count = odd_width(item.random), offset = item.random.between(0, 3);
  const float scale = item.random.pick({1.0f, 1.0f, 20.0f, 100.0f, 1e-20f});
  item.report.describe(std::to_string(count) + " elements, scale " + std::to_string(scale));
  const std::vector<float> gate = item.random.normals(count, scale), up = item.random.normals(count);
  const Exact gates = exactly(gate, offset), ups = exactly(up, 0), out(count * 4);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    kernel.swiglu(gates.data<float>(), ups.data<float>(), count, out.data<float>());
    for (int i = 0; i < count; i++) {
      const double wanted = gate[i] / (1 + std::exp(-static_cast<double>(gate[i]))) * up[i];
      // e^x within 4 roundings, then sum, quotient, product. Below e^-87 the quotient is cut off.
      const double allowed = roundings(8) * std::fabs(wanted) + 0x1p-118 * std::fabs(static_cast<double>(up[i]));
      item.report.expect_within(
          std::fabs(out.data<float>()[i] - wanted), allowed + 0x1p-140, variant + ", element " + std::to_string(i));
    }
    const int cut = count / 2;
    const Exact parts(count * 4);
    kernel.swiglu(gates.data<float>(), ups.data<float>(), cut, parts.data<float>());
    kernel.swiglu(gates.data<float>() + cut, ups.data<float>() + cut, count - cut, parts.data<float>() + cut);
    item.report.expect(same_bits(parts.data<float>(), out.data<float>(), count), variant + ": other bits in two parts");
  });
}

void rotation(Case& item) {
  const int width = item.random.pick({2, 16, 64, 80, 128, 2 * item.random.between(1, 100)});
  const int half = item.random.chance(70) ? width / 2 : item.random.between(1, width / 2);
  const Rotation turn = {2 * half, item.random.chance(50)};
  const int place = item.random.pick({0, 1, 127, 8191, 131072, item.random.between(0, 1 << 20)});
  const auto position = static_cast<float>(place);
  const float scale = item.random.pick({1.0f, 0.5f, 0.25f, 1.0f / 3});
  item.report.describe(
      std::to_string(2 * half) + " of " + std::to_string(width) + " at " + std::to_string(position) +
      (turn.traditional ? ", traditional" : ""));
  std::vector<float> inverse(half);
  for (int i = 0; i < half; i++) inverse[i] = static_cast<float>(std::pow(10000.0, -static_cast<double>(i) / half));
  const std::vector<float> row = item.random.normals(width);
  const Exact in = exactly(row, 0), frequencies = exactly(inverse, 0);
  const Exact cosines(half * 4), sines(half * 4), out(width * 4);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    kernel.angles(position * scale, frequencies.data<float>(), half, cosines.data<float>(), sines.data<float>());
    kernel.rotate(turn, in.data<float>(), width, cosines.data<float>(), sines.data<float>(), out.data<float>());
    for (int i = 0; i < half; i++) {
      const double angle = position * scale * inverse[i], c = std::cos(angle), s = std::sin(angle);
      item.report.expect_within(std::fabs(cosines.data<float>()[i] - c), 1e-7, variant + ": cosine");
      item.report.expect_within(std::fabs(sines.data<float>()[i] - s), 1e-7, variant + ": sine");
      const int first = turn.traditional ? 2 * i : i, second = turn.traditional ? 2 * i + 1 : i + half;
      const double a = row[first], b = row[second];
      const double allowed = (1e-7 + roundings(2)) * (std::fabs(a) + std::fabs(b)) + 0x1p-140;
      item.report.expect_within(std::fabs(out.data<float>()[first] - (a * c - b * s)), allowed, variant + ": first");
      item.report.expect_within(std::fabs(out.data<float>()[second] - (a * s + b * c)), allowed, variant + ": second");
    }
    item.report.expect(
        same_bits(out.data<float>() + 2 * half, row.data() + 2 * half, width - 2 * half),
        variant + ": what is not rotated changed");
  });
}

void conversion(Case& item) {
  const Element element = item.random.pick({Element::f16, Element::bf16});
  const int count = item.random.between(1, 3000);
  item.report.describe(std::to_string(count) + " of " + name_of(element));
  std::vector<uint16_t> halves(count);
  std::vector<float> floats(count);
  for (int i = 0; i < count; i++) {
    halves[i] = static_cast<uint16_t>(item.random.next());
    const auto bits = static_cast<uint32_t>(item.random.next());
    std::memcpy(&floats[i], &bits, 4);
    const float near = decode_half(element, halves[i]);
    // Around the numbers of the half type: their ties, and one step of float32 beside those.
    if (item.random.chance(60) && std::isfinite(near)) {
      const float after = decode_half(element, static_cast<uint16_t>(halves[i] + 1));
      floats[i] = std::isfinite(after) ? near / 2 + after / 2 : near;
      if (item.random.chance(50)) floats[i] = std::nextafter(floats[i], item.random.chance(50) ? 1e38f : -1e38f);
    }
  }
  const Exact source(count * 2), target(count * 2), wide(count * 4);
  std::copy(halves.begin(), halves.end(), source.data<uint16_t>());
  const Exact given = exactly(floats, 0);
  with_every_variant([&](const Kernels& kernel, const std::string& variant) {
    kernel.widen(element, source.data(), count, wide.data<float>());
    kernel.narrow(element, given.data<float>(), count, target.data<uint16_t>());
    for (int i = 0; i < count; i++) {
      const float wanted = decode_half(element, halves[i]), found = wide.data<float>()[i];
      item.report.expect(
          std::isnan(wanted) ? std::isnan(found) : same_bits(&wanted, &found, 1),
          variant + ": widening " + std::to_string(halves[i]));
      const uint16_t rounded = encode_half(element, floats[i]), made = target.data<uint16_t>()[i];
      item.report.expect(
          std::isnan(floats[i]) ? std::isnan(decode_half(element, made)) : rounded == made,
          variant + ": rounding " + std::to_string(floats[i]) + " to " + std::to_string(made) + ", wanted " +
              std::to_string(rounded));
    }
  });
}

}  // namespace rmx::cpu::cases
