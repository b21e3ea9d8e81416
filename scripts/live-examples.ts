// `npm run examples:live`: updates the pictures of the live page under docs/examples, from a tier run of the embedded gateway. It
// takes about three minutes.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBrowser } from "../test/support/browser.ts";
import { startGauntlet } from "../test/support/gauntlet.ts";
import { ROOT } from "./docs/generated-files.ts";

const SHOTS = [
  { file: "live-1280.png", width: 1280, height: 1250, colorScheme: "light" },
  { file: "live-1280-dark.png", width: 1280, height: 1250, colorScheme: "dark" },
  { file: "live-390.png", width: 390, height: 1500, colorScheme: "light" },
] as const;

const target = join(ROOT, "docs", "examples", "live");
mkdirSync(target, { recursive: true });
const out = join(mkdtempSync(join(tmpdir(), "gauntlet-live-")), "run");
await using run = startGauntlet(["load", "growth", "--brief", "--target", "embedded", "--live", "--out", out]);
const address = /live: (http\S+)/.exec(await run.printed(/live: http\S+\n/))?.[1] ?? "";
const browser = await startBrowser();
try {
  const pages = await Promise.all(
    SHOTS.map(async ({ file, width, height, colorScheme }) => {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      await page.goto(address);
      return { file, page };
    }),
  );
  // The overload has led to denials, and the clients that wait because of them are in flight.
  for (const { page } of pages) await page.locator("#phases tr", { hasText: "recovery" }).waitFor({ timeout: 600_000 });
  for (const { file, page } of pages) {
    const image = await page.screenshot();
    writeFileSync(join(target, file), image);
    process.stdout.write(`live/${file}: ${Math.round(image.length / 1_000)} kB\n`);
  }
} finally {
  await browser.close();
}
