import { seededRandom } from "../../../src/core/index.ts";

/** The content of a trace for a request, whatever its format. */
export interface Arrived {
  readonly atMs: number;
  readonly prompt: number;
  readonly output: number;
}

/** Arrivals like those of a trace: uneven gaps and sizes, whole milliseconds. */
export function arrivalsOf(count: number, { spanMs, seed }: { spanMs: number; seed: number }): Arrived[] {
  const random = seededRandom(seed);
  const between = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const atMs = Array.from({ length: count }, () => between(0, spanMs)).sort((a, b) => a - b);
  return atMs.map((at) => ({ atMs: at - (atMs[0] ?? 0), prompt: between(1, 1_800), output: between(1, 400) }));
}

/** JSON lines with milliseconds; a block of 512 tokens has one id, and requests share their first blocks. */
export function mooncake(all: readonly Arrived[], shared = 2): string {
  let fresh = shared;
  const lines = all.map(({ atMs, prompt, output }) => {
    const blocks = Math.ceil(prompt / 512);
    const ids = Array.from({ length: blocks }, (_, block) => (block < shared && block < blocks - 1 ? block : fresh++));
    return JSON.stringify({ timestamp: atMs, input_length: prompt, output_length: output, hash_ids: ids });
  });
  return `${lines.join("\n")}\n`;
}

/** CSV of Azure's LLM inference traces: date and time with seven digits of a second. */
export function azure(all: readonly Arrived[]): string {
  const begin = Date.UTC(2023, 10, 16, 18, 17, 3, 979);
  const lines = all.map(({ atMs, prompt, output }) => {
    const at = new Date(begin + atMs).toISOString().replace("T", " ").replace("Z", "9600");
    return `${at},${prompt},${output}`;
  });
  return `TIMESTAMP,ContextTokens,GeneratedTokens\r\n${lines.join("\r\n")}\r\n`;
}

/** CSV of BurstGPT: seconds from its beginning, sums and the kind of log. */
export function burstGpt(all: readonly Arrived[], more = false): string {
  const lines = all.map(({ atMs, prompt, output }, index) => {
    const model = index % 3 === 0 ? "GPT-4" : "ChatGPT";
    const sums = `${model},${prompt},${output},${prompt + output},Conversation log`;
    return `${5 + atMs / 1_000},${more ? `${index % 4},1.25,` : ""}${sums}`;
  });
  const names = "Model,Request tokens,Response tokens,Total tokens,Log Type";
  return `Timestamp,${more ? "Session ID,Elapsed time," : ""}${names}\n${lines.join("\n")}\n`;
}
