import { createHash } from "node:crypto";
import { renderToString } from "preact-render-to-string";
import type { ReportSource } from "../source.ts";
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
  if (layout === "single") {
    const policy = `default-src 'none'; style-src '${hash(STYLE)}'; script-src '${hash(SCRIPT)}'; ${REST}`;
    return new Map([["report.html", document(source, { policy, style: STYLE, script: SCRIPT })]]);
  }
  const policy = `default-src 'none'; style-src 'self'; script-src 'self'; ${REST}`;
  return new Map([
    ["index.html", document(source, { policy })],
    ["report.css", STYLE],
    ["report.js", SCRIPT],
  ]);
}

/** A policy in the page cannot forbid framing; that is the server's to say. */
const REST = "img-src data:; base-uri 'none'; form-action 'none'";

function document(
  source: ReportSource,
  head: { readonly policy: string; readonly style?: string; readonly script?: string },
): string {
  return `<!doctype html>\n${renderToString(<Page source={source} head={head} />)}\n`;
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
