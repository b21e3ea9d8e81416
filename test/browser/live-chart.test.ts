import { build } from "esbuild";
import { expect, test } from "vitest";
import type { LiveSecond } from "../../src/telemetry/live/live-feed.ts";
import { startBrowser } from "../support/browser.ts";
import { loadSeries } from "../support/load-records.ts";

/** The module of the chart, as the browser runs it. */
async function chartScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ["src/telemetry/live/page-script/chart.ts"],
    bundle: true,
    format: "iife",
    globalName: "live",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

test("a value between two gaps is drawn as a visible mark", async () => {
  const latency = { p50: 400, p95: 600, p99: 900 };
  const seconds = loadSeries(0, 20, 4, 4).map(
    (second): LiveSecond => ({
      ...second,
      run: "steady",
      phase: "steady",
      ttftMs: second.atS === 5 || second.atS > 15 ? latency : null,
    }),
  );
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const style = "figure > svg { width: 400px; height: 176px }";
    const colors = ":root { --series-1: red; --series-2: green; --series-3: blue }";
    await page.setContent(`<style>${style} ${colors}</style>`);
    await page.addScriptTag({ content: await chartScript() });
    const drawn = await page.evaluate((shown) => {
      const { CHARTS, Chart } = Reflect.get(window, "live");
      const options = CHARTS.find(({ title }: { title: string }) => title === "TTFT, ms");
      new Chart(options, document.body).show(shown, undefined, []);
      const svg = document.querySelector("figure > svg");
      return {
        marks: [...(svg?.querySelectorAll("circle") ?? [])].map((mark) => ({
          width: mark.getBoundingClientRect().width,
          fill: getComputedStyle(mark).fill,
        })),
        lines: svg?.querySelectorAll("polyline").length,
      };
    }, seconds);
    const mark = (fill: string) => ({ width: 5, fill });
    expect(drawn).toEqual({
      marks: [mark("rgb(255, 0, 0)"), mark("rgb(0, 128, 0)"), mark("rgb(0, 0, 255)")],
      lines: 3,
    });
  } finally {
    await browser.close();
  }
});
