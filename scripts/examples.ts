// The first part of `npm run examples`, which updates everything under docs/examples: reports from runs of the reference gateway,
// captures of the terminal, pictures of the live page. With a folder as argument (`tsx scripts/examples.ts DIR`), the runs are kept
// there, and existing ones are not repeated; further arguments name the examples to update (`fail`, `compare`, …). All of it takes
// about twenty minutes, and the machine should be idle.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import type { RunRecord } from "../src/record/index.ts";
import { startBrowser } from "../test/support/browser.ts";
import { gauntlet, startGauntlet } from "../test/support/gauntlet.ts";
import { ROOT } from "./docs/generated-files.ts";

interface Example {
  readonly command: readonly string[];
  readonly result: RunRecord["verdict"]["result"];
}

const GATEWAY = "gauntlet gateway --pieces 6 --limits 60000:1000";
const EMBEDDED = ["--target", "embedded", "--seed", "7"];
const BUILDS = ["--start-a", `${GATEWAY} --pace 20`, "--start-b", `${GATEWAY} --pace 26 --mutation chat.usage-missing`];
const SESSION = ["--pairs", "10", "--block-s", "3", "--rate", "40", "--suites", "chat", "--suites", "models"];

const EXAMPLES = {
  pass: { command: ["run", ...EMBEDDED], result: "pass" },
  fail: { command: ["conform", "--mutation", "auth.unknown-key-403", ...EMBEDDED], result: "fail" },
  "load-failure": {
    command: ["load", "starter", "--mutation", "concurrency.one-too-many", ...EMBEDDED],
    result: "fail",
  },
  compare: { command: ["compare", ...BUILDS, ...SESSION, "--seed", "1"], result: "fail" },
  "one-key": { command: ["conform", "--quick", "--target", "one-key.yaml"], result: "inconclusive" },
} as const satisfies Readonly<Record<string, Example>>;

type Name = keyof typeof EXAMPLES;

interface Screenshot {
  readonly of: Name;
  /** Below `docs/examples`. */
  readonly file: string;
  readonly width: 1280 | 390;
  readonly scheme?: "dark";
  /** Paper size: A4 at 96 pixels per inch, without margins. */
  readonly printed?: true;
  /** Top edge of the picture; by default the top of the page. */
  readonly from?: string;
  /** Maximum height. The README's picture ships in the package, so it is kept small. */
  readonly height?: number;
}

const SCREENSHOTS: readonly Screenshot[] = [
  { of: "fail", file: "failing-gateway/report.png", width: 1280, height: 900 },
  { of: "pass", file: "report/pass-1280.png", width: 1280 },
  { of: "pass", file: "report/pass-390.png", width: 390 },
  { of: "pass", file: "report/pass-latency-1280.png", width: 1280, from: "#latency" },
  { of: "pass", file: "report/pass-printed.png", width: 1280, printed: true },
  { of: "fail", file: "report/fail-390.png", width: 390 },
  { of: "fail", file: "report/fail-1280-dark.png", width: 1280, scheme: "dark" },
  { of: "load-failure", file: "report/load-failure-1280.png", width: 1280 },
  { of: "load-failure", file: "report/load-failure-390-dark.png", width: 390, scheme: "dark" },
  { of: "one-key", file: "report/one-key-1280.png", width: 1280 },
  { of: "one-key", file: "report/one-key-390.png", width: 390 },
  { of: "compare", file: "report/compare-1280.png", width: 1280 },
  { of: "compare", file: "report/compare-390.png", width: 390 },
];

/** Larger pictures are cropped at the bottom: pages of documentation load them all. */
const MAX_BYTES = 300_000;
const MAX_HEIGHT = 1_700;
const PAPER_WIDTH = 688;

/** Makes the run unless its folder has it. @returns the folder. */
async function runOf(name: Name, runs: string): Promise<string> {
  const { command, result } = EXAMPLES[name];
  const folder = join(runs, name);
  if (!existsSync(join(folder, "run.json"))) {
    process.stdout.write(`${name}: gauntlet ${command.join(" ")}\n`);
    await using gateway = startGauntlet(["gateway", "--limits", "6000:256"]);
    const { baseUrl, keys } = JSON.parse(await gateway.printed("\n"));
    const target = `name: staging\nbaseUrl: ${baseUrl}\nkeys: { valid: env:GW_KEY }\nmodels: { chat: echo-fast }\n`;
    writeFileSync(join(runs, "one-key.yaml"), target);
    await gauntlet([...command, "--out", folder], { GW_KEY: keys.valid }, runs);
  }
  const { verdict } = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as RunRecord;
  if (verdict.result !== result)
    throw new Error(`the result of the example ${name} is ${verdict.result}, not ${result}: ${folder}`);
  await gauntlet(["report", folder]);
  return folder;
}

async function take(browser: Browser, screenshot: Screenshot, folder: string): Promise<Buffer> {
  const width = screenshot.printed === undefined ? screenshot.width : PAPER_WIDTH;
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: screenshot.scheme ?? "light" });
  await page.goto(pathToFileURL(join(folder, "report.html")).href);
  if (screenshot.printed !== undefined) await page.emulateMedia({ media: "print" });
  await page.evaluate(
    (from) => document.querySelector(from)?.scrollIntoView({ behavior: "instant" }),
    screenshot.from ?? "body",
  );
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  let height = Math.min(screenshot.height ?? MAX_HEIGHT, whole);
  let image: Buffer;
  do {
    await page.setViewportSize({ width, height });
    image = await page.screenshot();
    height -= 100;
  } while (image.length > MAX_BYTES);
  await page.close();
  return image;
}

const runs = process.argv[2] ?? mkdtempSync(join(tmpdir(), "gauntlet-examples-"));
const target = join(ROOT, "docs", "examples");
mkdirSync(join(target, "report"), { recursive: true });
mkdirSync(runs, { recursive: true });
const folders = new Map<Name, string>();
const named = process.argv.slice(3);
const selected = (Object.keys(EXAMPLES) as Name[]).filter((name) => named.length === 0 || named.includes(name));
for (const name of selected) folders.set(name, await runOf(name, runs));
const failing = folders.get("fail");
if (failing !== undefined)
  for (const file of ["report.html", "summary.md"])
    copyFileSync(join(failing, file), join(target, "failing-gateway", file));
const browser = await startBrowser();
try {
  for (const screenshot of SCREENSHOTS) {
    const folder = folders.get(screenshot.of);
    if (folder === undefined) continue;
    const image = await take(browser, screenshot, folder);
    writeFileSync(join(target, screenshot.file), image);
    process.stdout.write(`${screenshot.file}: ${Math.round(image.length / 1_000)} kB\n`);
  }
} finally {
  await browser.close();
}
