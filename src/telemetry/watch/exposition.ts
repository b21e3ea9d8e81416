/** One line of a Prometheus endpoint. */
export interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** A counter only increases, until its process restarts; everything else is treated as a gauge. */
  readonly kind: "counter" | "gauge";
}

export interface Exposition {
  readonly samples: readonly ExposedSample[];
  /** Number of sample lines, including unselected ones; 0: another format. */
  readonly lines: number;
}

/** No legitimate sample is longer; labels may contain external data. */
const MAX_LINE_CHARACTERS = 4_096;
const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*(?:,|(?=\}))/y;
const LABELS_END = /[ \t]*\}/y;
const VALUE = /[ \t]*([^ \t#{}]+)/y;
/** Suffixes of a counter's samples when its type is declared under the name without one. */
const SUFFIX = /_(?:total|count|sum|bucket)$/;

/**
 * Reads the text format of Prometheus, and the part of OpenMetrics that both share. Other lines are skipped.
 *
 * @param isSelected by name: the labels of other samples are not parsed.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
 */
export function parseExposition(
  text: string,
  isSelected: (name: string, kind: ExposedSample["kind"]) => boolean,
): Exposition {
  const types = new Map<string, string>();
  const samples: ExposedSample[] = [];
  let lines = 0;
  for (const line of linesOf(text)) {
    if (line.startsWith("#")) {
      const [, name, type] = /^#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)/.exec(line) ?? [];
      if (name !== undefined && type !== undefined) types.set(name, type.toLowerCase());
      continue;
    }
    const name = at(NAME, line, 0)?.[0];
    if (name === undefined) continue;
    const kind = kindOf(name, types);
    if (!isSelected(name, kind)) {
      // One parsed line proves the format; the others need not be parsed.
      if (lines > 0 || readRest(line, name.length) !== undefined) lines++;
      continue;
    }
    const rest = readRest(line, name.length);
    if (rest === undefined) continue;
    lines++;
    samples.push({ name, kind, ...rest });
  }
  return { samples, lines };
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf("\n", from);
    const to = found < 0 ? text.length : found;
    if (to > from && to - from <= MAX_LINE_CHARACTERS) yield text.slice(from, text[to - 1] === "\r" ? to - 1 : to);
    from = to + 1;
  }
}

function at(pattern: RegExp, line: string, index: number): RegExpExecArray | undefined {
  pattern.lastIndex = index;
  return pattern.exec(line) ?? undefined;
}

/** The rest after the name: labels, if any, and the value; timestamp and exemplar are ignored. */
function readRest(line: string, from: number): Pick<ExposedSample, "labels" | "value"> | undefined {
  const labels: [string, string][] = [];
  let index = from;
  while (line[index] === " " || line[index] === "\t") index++;
  if (line[index] === "{") {
    index++;
    for (let label = at(LABEL, line, index); label !== undefined; label = at(LABEL, line, index)) {
      labels.push([label[1] ?? "", unescaped(label[2] ?? "")]);
      index += label[0].length;
    }
    const end = at(LABELS_END, line, index);
    if (end === undefined) return undefined;
    index += end[0].length;
  } else if (index === from) return undefined;
  const value = numberOf(at(VALUE, line, index)?.[1] ?? "");
  return value === undefined ? undefined : { labels: Object.fromEntries(labels), value };
}

function unescaped(text: string): string {
  return text.includes("\\")
    ? text.replace(/\\(["\\n])/g, (_, character) => (character === "n" ? "\n" : character))
    : text;
}

/** Numbers in Go's notation. */
function numberOf(text: string): number | undefined {
  if (/^[+-]?inf(?:inity)?$/i.test(text))
    return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

/** By the type declared above; without one, by the suffix of its name. */
function kindOf(name: string, types: ReadonlyMap<string, string>): ExposedSample["kind"] {
  const own = types.get(name);
  if (own !== undefined && own !== "untyped" && own !== "unknown") return own === "counter" ? "counter" : "gauge";
  const [suffix] = SUFFIX.exec(name) ?? [];
  if (suffix === undefined) return "gauge";
  const family = types.get(name.slice(0, -suffix.length));
  return family === "gaugehistogram" ? "gauge" : "counter";
}
