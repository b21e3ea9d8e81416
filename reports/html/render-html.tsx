import { createHash } from "node:crypto";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { HistoryReport } from "../../src/history/index.ts";
import type { ReportSource } from "../source.ts";
import type { Head } from "./document.tsx";
import { HistoryPage } from "./history-page.tsx";
import { Page } from "./page.tsx";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

export type Layout = "single" | "folder";

/** Files of the report by name. */
export type ReportFiles = ReadonlyMap<string, string>;

/**
 * The report as one file, or as a folder with the same content for servers whose policy forbids what stands inside a page.
 *
 * Its own policy stands in the page: nothing is loaded from anywhere, and only our style and our script count. Text of a
 * gateway that were to get into the page as markup could still not run.
 */
export function renderHtml(source: ReportSource, layout: Layout): ReportFiles {
  if (layout === "single") return new Map([["report.html", written(<Page source={source} head={inOneFile()} />)]]);
  const policy = `default-src 'none'; style-src 'self'; script-src 'self'; ${REST}`;
  return new Map([
    ["index.html", written(<Page source={source} head={{ policy }} />)],
    ["report.css", STYLE],
    ["report.js", SCRIPT],
  ]);
}

/** The trends of a history as one file. */
export function renderHistoryPage(history: HistoryReport): string {
  return written(<HistoryPage history={history} head={inOneFile()} />);
}

function inOneFile(): Head {
  const policy = `default-src 'none'; style-src '${hash(STYLE)}'; script-src '${hash(SCRIPT)}'; ${REST}`;
  return { policy, style: STYLE, script: SCRIPT };
}

/** A policy in the page cannot forbid framing; that is the server's to say. */
const REST = "img-src data:; base-uri 'none'; form-action 'none'";

function written(page: VNode): string {
  return `<!doctype html>\n${renderToString(page)}\n`;
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
