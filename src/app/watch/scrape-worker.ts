import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/index.ts";
import { ChosenSeries, seriesChoice } from "./chosen-series.ts";
import { parseExposition } from "./exposition.ts";
import { Scraper } from "./scrape.ts";
import type { Scraped, ScrapeStart } from "./scrape-messages.ts";

if (parentPort !== null) scrapeOften(parentPort, workerData as ScrapeStart);

/** Scrapes at once, at even intervals, and when it is told to: in a thread of its own, because the load may not wait for what it reads. */
function scrapeOften(port: MessagePort, { pattern, intervalMs, ...endpoint }: ScrapeStart): void {
  const scraper = new Scraper(endpoint);
  const choice = seriesChoice(pattern === undefined ? undefined : new RegExp(pattern));
  const chosen = new ChosenSeries(choice);
  const scrape = async (): Promise<Scraped> => {
    const atMs = Date.now();
    try {
      const { samples, lines } = parseExposition(await scraper.text(), choice.byName);
      if (lines === 0) throw new Error("answered no Prometheus text");
      const known = chosen.series.length;
      const values = chosen.take(samples);
      return { kind: "values", atMs, added: chosen.series.slice(known), values, dropped: chosen.dropped };
    } catch (error) {
      return { kind: "failure", atMs, message: messageOf(error) };
    }
  };
  let running: Promise<void> | undefined;
  const take = () => {
    // An endpoint that takes longer than the interval is not asked twice at once.
    running ??= scrape().then((scraped) => {
      running = undefined;
      port.postMessage(scraped);
    });
    return running;
  };
  setInterval(() => void take(), intervalMs);
  // One that is under way began before it was told.
  port.on("message", () => void (running ?? Promise.resolve()).then(take));
  void take();
}
