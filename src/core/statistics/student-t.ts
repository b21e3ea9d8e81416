/**
 * Quantile of Student's t.
 *
 * @param share between 0 and 1, exclusive.
 * @param df degrees of freedom, 1 or more.
 */
export function tQuantile(share: number, df: number): number {
  if (share === 0.5) return 0;
  if (share < 0.5) return -tQuantile(1 - share, df);
  let low = 0;
  let high = 2;
  while (tCumulative(high, df) < share) high *= 2;
  // 100 bisections are below the precision of a double.
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2;
    if (tCumulative(middle, df) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Share of a normal distribution below this many standard deviations: Student's t with enough degrees of freedom to match the
 * normal to nine digits.
 */
export function normalCumulative(deviations: number): number {
  return tCumulative(deviations, 1e10);
}

/** Student's t with enough degrees of freedom to match the normal to nine digits. */
export function normalQuantile(share: number): number {
  return tQuantile(share, 1e10);
}

/** Share of Student's t below a value, which may be infinite. */
export function tCumulative(t: number, df: number): number {
  const tail = incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** Regularised incomplete beta function, by its continued fraction (Lentz). @param x between 0 and 1. */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  // The fraction converges quickly only on this side of the middle.
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

const TINY = 1e-300;

function fraction(x: number, a: number, b: number): number {
  const guard = (value: number) => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m < 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    const step = d * c;
    result *= step;
    if (Math.abs(step - 1) < 1e-15) break;
  }
  return result;
}

/** Lanczos, g = 7. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

function logGamma(z: number): number {
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z);
  const base = z + 6.5;
  const sum = LANCZOS.reduce((total, term, index) => (index === 0 ? term : total + term / (z - 1 + index)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(base) - base + Math.log(sum);
}
