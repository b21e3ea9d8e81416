/** The share of one instance, in k6's format. */
export interface Segment {
  readonly segment: string;
  readonly sequence: string;
}

/** Equal shares, and the sequence that k6 needs to distribute the schedule exactly: every arrival goes to one instance. */
export function segmentsOf(instances: number): Segment[] {
  const at = (index: number) => (index === 0 ? "0" : index === instances ? "1" : `${index}/${instances}`);
  const sequence = Array.from({ length: instances + 1 }, (_, index) => at(index)).join(",");
  return Array.from({ length: instances }, (_, index) => ({ segment: `${at(index)}:${at(index + 1)}`, sequence }));
}

/** Shares missing from the whole, `1/3:2/3`; empty if complete, or if a share cannot be parsed. */
export function missingShares(segments: readonly string[]): string[] {
  const edges = segments
    .map((text) => /^([\d./]+):([\d./]+)$/.exec(text))
    .filter((found) => found !== null)
    .map(([, from = "", to = ""]) => ({ from, to, fromAt: shareOf(from), toAt: shareOf(to) }))
    .sort((a, b) => a.fromAt - b.fromAt);
  if (edges.length < segments.length) return [];
  const missing: string[] = [];
  let reached = { text: "0", at: 0 };
  for (const { from, to, fromAt, toAt } of edges) {
    if (fromAt > reached.at + 1e-9) missing.push(`${reached.text}:${from}`);
    if (toAt > reached.at) reached = { text: to, at: toAt };
  }
  if (reached.at < 1 - 1e-9) missing.push(`${reached.text}:1`);
  return missing;
}

function shareOf(text: string): number {
  const [above = "0", below = "1"] = text.split("/");
  return Number(above) / Number(below);
}
