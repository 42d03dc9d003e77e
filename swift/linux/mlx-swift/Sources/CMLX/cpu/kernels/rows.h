// Kernels of one row: RMS norm, SwiGLU, rotary embedding.
#pragma once

inline void rms_norm(const float* row, int64_t width, const float* weight, float epsilon, float* out) {
  F squares = zero();
  for (int64_t i = 0; i < width; i += L) {
    const F x = load_elements(Element::f32, row, i, width - i);
    squares = fma(x, x, squares);
  }
  const float mean = sum(squares) / static_cast<float>(width);
  const F factor = splat(1.0f / __builtin_sqrtf(mean + epsilon));
  for (int64_t i = 0; i < width; i += L) {
    F x = load_elements(Element::f32, row, i, width - i) * factor;
    if (weight) x = x * load_elements(Element::f32, weight, i, width - i);
    if (i + L <= width) {
      store(out + i, x);
    } else {
      store_partial(out + i, x, width - i);
    }
  }
}

inline void swiglu(const float* gate, const float* up, int64_t count, float* out) {
  for (int64_t i = 0; i < count; i += L) {
    const F x = load_elements(Element::f32, gate, i, count - i);
    const F y = x / (splat(1.0f) + exponential(-x)) * load_elements(Element::f32, up, i, count - i);
    if (i + L <= count) {
      store(out + i, y);
    } else {
      store_partial(out + i, y, count - i);
    }
  }
}

typedef double D __attribute__((vector_size(L * 8)));

/// Sine and cosine of angles up to 2^30, within 1e-7: reduced by quarter turns in double precision.
RMX_INLINE void sine_cosine(F angle, F& sine, F& cosine) {
  const D wide = __builtin_convertvector(angle, D);
  // 1.5 * 2^52: the sum's low bits are the nearest whole number of quarter turns.
  const D shifted = wide * 0.63661977236758134 + 6755399441055744.0;
  const D turns = shifted - 6755399441055744.0;
  const D reduced = (wide - turns * 1.5707963267948966) - turns * 6.123233995736766e-17;
  const I quarter = __builtin_convertvector(turns, I);
  const F r = __builtin_convertvector(reduced, F), r2 = r * r;
  F s = fma(r2, splat(-1.9515295891e-4f), splat(8.3321608736e-3f));
  s = fma(s, r2, splat(-1.6666654611e-1f));
  s = fma(s * r2, r, r);
  F c = fma(r2, splat(2.443315711809948e-5f), splat(-1.388731625493765e-3f));
  c = fma(c, r2, splat(4.166664568298827e-2f));
  c = fma(c * r2, r2, fma(r2, splat(-0.5f), splat(1.0f)));
  const I swap = (quarter & 1) != 0;
  const I sine_sign = (quarter & 2) << 30, cosine_sign = ((quarter + 1) & 2) << 30;
  sine = (F)((((I)c & swap) | ((I)s & ~swap)) ^ sine_sign);
  cosine = (F)((((I)s & swap) | ((I)c & ~swap)) ^ cosine_sign);
}

inline void angles(float position, const float* inverse_frequencies, int half, float* cosines, float* sines) {
  for (int i = 0; i < half; i += L) {
    F sine, cosine;
    sine_cosine(load_elements(Element::f32, inverse_frequencies, i, half - i) * splat(position), sine, cosine);
    const int64_t count = half - i < L ? half - i : L;
    store_partial(cosines + i, cosine, count);
    store_partial(sines + i, sine, count);
  }
}

inline void rotate(
    Rotation rotation, const float* row, int64_t width, const float* cosines, const float* sines, float* out) {
  const int half = rotation.dims / 2;
  if (rotation.traditional) {
    for (int i = 0; i < half; i++) {
      const float a = row[2 * i], b = row[2 * i + 1];
      out[2 * i] = a * cosines[i] - b * sines[i];
      out[2 * i + 1] = a * sines[i] + b * cosines[i];
    }
  } else {
    for (int i = 0; i < half; i++) {
      const float a = row[i], b = row[i + half];
      out[i] = a * cosines[i] - b * sines[i];
      out[i + half] = a * sines[i] + b * cosines[i];
    }
  }
  for (int64_t i = rotation.dims; i < width; i++) out[i] = row[i];
}
