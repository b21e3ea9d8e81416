interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The conventional name of a metric series: `http_requests_total{code="200"}`. */
export function seriesName({ name, labels }: Series): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const inside = pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",");
  return inside === "" ? name : `${name}{${inside}}`;
}
