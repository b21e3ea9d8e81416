import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/index.ts";
import { ChosenSeries, seriesChoice } from "./chosen-series.ts";
import { parseExposition } from "./exposition.ts";
import { Scraper } from "./scrape.ts";
import type { Scraped, ScrapeStart } from "./scrape-messages.ts";

if (parentPort !== null) scrapeOften(parentPort, workerData as ScrapeStart);

/** Scrapes immediately, at even intervals, and on request, in a separate thread so that the load never waits for the parser. */
function scrapeOften(port: MessagePort, { pattern, intervalMs, ...endpoint }: ScrapeStart): void {
  const scraper = new Scraper(endpoint);
  const choice = seriesChoice(pattern === undefined ? undefined : new RegExp(pattern));
  const chosen = new ChosenSeries(choice);
  const scrape = async (): Promise<Scraped> => {
    const atMs = Date.now();
    try {
      const { samples, lines } = parseExposition(await scraper.text(), choice.byName);
      if (lines === 0) throw new Error("the response is not Prometheus text");
      const known = chosen.series.length;
      const values = chosen.take(samples);
      return { kind: "values", atMs, added: chosen.series.slice(known), values, dropped: chosen.dropped };
    } catch (error) {
      return { kind: "failure", atMs, message: messageOf(error) };
    }
  };
  let running: Promise<void> | undefined;
  const take = () => {
    // Scrapes never overlap, even if one takes longer than the interval.
    running ??= scrape().then((scraped) => {
      running = undefined;
      port.postMessage(scraped);
    });
    return running;
  };
  setInterval(() => void take(), intervalMs);
  // A running scrape began before this request.
  port.on("message", () => void (running ?? Promise.resolve()).then(take));
  void take();
}
