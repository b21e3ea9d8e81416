import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { ConfigError, fileProblem, isObject, member } from "../../core/index.ts";
import { parseRequest, type RawRequest } from "./raw-request.ts";

/** The content of one instance's raw output. */
export interface RawOutput {
  readonly requests: readonly RawRequest[];
  /** Dropped arrivals by scenario. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Whether the output records the start and the end of the test. */
  readonly begun: boolean;
  readonly ended: boolean;
  /** The segment it was given; empty if none. */
  readonly segment: string;
}

/** A sample, independent of the format. */
interface Sample {
  readonly metric: string;
  readonly value: number;
  readonly scenario: string;
  /** Value of the scripts' metadata field. */
  readonly text: string;
}

/**
 * Reads k6's `--out json` or `--out csv`, optionally gzipped, line by line, so that memory does not limit the file size. Skips a
 * truncated last line, which a killed k6 leaves behind.
 *
 * @throws ConfigError if the file cannot be read.
 */
export async function readOutput(path: string): Promise<RawOutput> {
  const requests: RawRequest[] = [];
  const dropped = new Map<string, number>();
  const events = new Set<string>();
  let segment = "";
  let columns: readonly string[] | undefined;
  let first = true;
  const source = createReadStream(path);
  const bytes = path.endsWith(".gz") ? source.pipe(createGunzip()) : source;
  source.on("error", (error) => bytes.destroy(error));
  const lines = createInterface({ input: bytes, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) {
      if (first && line.startsWith("metric_name,")) columns = line.split(",");
      first = false;
      const sample = columns === undefined ? jsonSample(line) : csvSample(line, columns);
      if (sample === undefined) continue;
      const { metric, text, scenario, value } = sample;
      if (metric === "gauntlet_request") {
        const request = parseRequest(text);
        if (request !== undefined) requests.push(request);
      } else if (metric === "dropped_iterations") {
        dropped.set(scenario, (dropped.get(scenario) ?? 0) + value);
      } else if (metric === "gauntlet_instance") {
        const [, event = "", share = ""] = text.split("|");
        events.add(event);
        segment = decodeURIComponent(share);
      }
    }
  } catch (error) {
    throw new ConfigError([{ file: path, path: "", message: `cannot be read: ${fileProblem(error)}.` }], {
      cause: error,
    });
  }
  return { requests, dropped, begun: events.has("begun"), ended: events.has("ended"), segment };
}

/** Metrics of the scripts; k6's other metrics are not even parsed. */
const OURS = /^\{"metric":"(gauntlet_request|gauntlet_instance|dropped_iterations)"/;

function jsonSample(line: string): Sample | undefined {
  if (!OURS.test(line) && !/"metric":"(gauntlet_(request|instance)|dropped_iterations)"\}?$/.test(line))
    return undefined;
  let point: unknown;
  try {
    point = JSON.parse(line);
  } catch {
    // The truncated last line of a killed instance.
    return undefined;
  }
  if (member(point, "type") !== "Point") return undefined;
  const data = member(point, "data");
  const tags = member(data, "tags");
  const metadata = member(data, "metadata");
  const scenario = member(tags, "scenario");
  const text = isObject(metadata) ? metadata["g"] : "";
  const value = member(data, "value");
  return {
    metric: String(member(point, "metric")),
    value: typeof value === "number" ? value : 0,
    scenario: typeof scenario === "string" ? scenario : "",
    text: typeof text === "string" ? text : "",
  };
}

function csvSample(line: string, columns: readonly string[]): Sample | undefined {
  if (!/^(gauntlet_request|gauntlet_instance|dropped_iterations),/.test(line)) return undefined;
  const cells = splitCsv(line);
  if (cells.length !== columns.length) return undefined;
  const cell = (name: string) => cells[columns.indexOf(name)] ?? "";
  const text = cell("metadata").startsWith("g=") ? cell("metadata").slice(2) : "";
  return { metric: cell("metric_name"), value: Number(cell("metric_value")), scenario: cell("scenario"), text };
}

/** Cells of a line; quoted ones may contain commas. The scripts encode their own text, so it needs no quotes. */
function splitCsv(line: string): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    cells.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
  return cells;
}
