import { createHash } from "node:crypto";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { HistoryReport } from "../../src/history/index.ts";
import type { ReportSource } from "../evidence/source.ts";
import type { Head } from "./document.tsx";
import { HistoryPage } from "./history-page.tsx";
import { Page } from "./page.tsx";
import { ResultPage, type ResultPageSource } from "./result-page.tsx";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

export type Layout = "single" | "folder";

/** Files of the report by name. */
export type ReportFiles = ReadonlyMap<string, string>;

/**
 * The report as one file, or as a folder with the same content for servers whose policy forbids inline styles and scripts.
 *
 * The page has its own policy: it loads nothing from other origins and runs only our style and script. Markup in gateway text
 * could not run even if it were not escaped.
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
export function renderHistoryPage(history: HistoryReport, reportOf: (folder: string) => string | undefined): string {
  return written(<HistoryPage history={history} reportOf={reportOf} head={inOneFile()} />);
}

/** What a command without a record printed, as one file. */
export function renderResultPage(source: ResultPageSource): string {
  return written(<ResultPage source={source} head={inOneFile()} />);
}

/** A page as one file without a script. @param more what it needs besides the style of all pages. */
export function withoutScript(pageOf: (head: Head) => VNode, more: string): string {
  const style = STYLE + more;
  const policy = `default-src 'none'; style-src '${hash(style)}'; ${REST}`;
  return written(pageOf({ policy, style, script: null }));
}

function inOneFile(): Head {
  const policy = `default-src 'none'; style-src '${hash(STYLE)}'; script-src '${hash(SCRIPT)}'; ${REST}`;
  return { policy, style: STYLE, script: SCRIPT };
}

/** A policy in the page cannot forbid framing; only a server's header can. */
const REST = "img-src data:; base-uri 'none'; form-action 'none'";

function written(page: VNode): string {
  return `<!doctype html>\n${renderToString(page)}\n`;
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
