/**
 * From the start of a command to its first request at the server.
 *
 *     npm run build && npm run bench:start [-- --runs 7] [-- --k6] [-- --oha]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { findK6 } from "../src/engines/index.ts";
import { AUTOCANNON, findOha, gauntletLoad, medianRow, run, startPacedServer } from "./support/bench-tools.ts";

const options = await yargs(process.argv.slice(2))
  .option("runs", { type: "number", default: 7 })
  .option("k6", { type: "boolean", default: false })
  .option("oha", { type: "boolean", default: false })
  .strict()
  .parseAsync();

const folder = mkdtempSync(join(tmpdir(), "gauntlet-bench-"));
const bare = join(folder, "bare.mjs");
writeFileSync(bare, "import { request } from 'node:http';\nrequest(process.argv[2], { method: 'POST' }).end('{}');\n");
const tools: Record<string, (url: string) => readonly string[]> = {
  gauntlet: (url) =>
    gauntletLoad(folder, url, {
      arrivals: { kind: "constant", ratePerS: 20, durationS: 0.5 },
      mix: [{ dialect: "chat", maxTokens: 16 }],
    }),
  "Node with one request": (url) => [process.execPath, bare, url],
  autocannon: (url) => [process.execPath, AUTOCANNON, "-c", "1", "-a", "10", "-m", "POST", "-b", "{}", url],
};
if (options.k6) {
  const k6 = findK6(undefined, process.env);
  const script = join(folder, "k6.js");
  tools["k6"] = (url) => {
    writeFileSync(script, `import http from "k6/http";\nexport default function () { http.post("${url}", "{}"); }\n`);
    return [k6, "run", "-q", "--no-usage-report", "--iterations", "1", script];
  };
}
if (options.oha) {
  const oha = findOha();
  tools["oha"] = (url) => [oha, "--no-tui", "-n", "1", "-m", "POST", "-d", "{}", url];
}

const runs = new Map<string, Record<string, number>[]>();
for (let round = 0; round < options.runs; round++) {
  for (const [tool, command] of Object.entries(tools)) {
    await using server = await startPacedServer({ latencyMs: 0 });
    const { startedAtMs } = await run(command(server.url));
    const { firstAtMs } = await server.truth();
    runs.set(tool, [...(runs.get(tool) ?? []), { "ms to the first request": firstAtMs - startedAtMs }]);
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`from the start of the command to its first request: median (lowest … highest) of ${options.runs}`);
console.table(Object.fromEntries([...runs].map(([tool, rows]) => [tool, medianRow(rows, 0)])));
