import { renderAnnotations } from "./ci/annotations.ts";
import { renderComment } from "./ci/comment.ts";
import { renderCtrf } from "./ci/ctrf.ts";
import { renderJunit } from "./ci/junit.ts";
import { renderSarif } from "./ci/sarif.ts";
import { renderEvents } from "./events.ts";
import type { ReportSource } from "./evidence/source.ts";
import { type Layout, renderHtml } from "./html/render-html.tsx";
import { renderLlmD } from "./llm-d.ts";
import { renderMarkdown } from "./markdown.ts";
import { renderOpenMetrics } from "./openmetrics.ts";

type Files = ReadonlyMap<string, string>;

type Renderer = (source: ReportSource, layout: Layout) => Files;

/** Report formats, and the files that each one writes, by their path in the run folder. */
const RENDERERS = {
  html: (source, layout) => htmlFiles(source, layout),
  junit: ({ record }) => one("junit.xml", renderJunit(record)),
  ctrf: ({ record }) => one("ctrf.json", renderCtrf(record)),
  markdown: ({ record }) => one("summary.md", renderMarkdown(record)),
  comment: (source) => one("comment.md", renderComment(source)),
  annotations: ({ record }) => one("annotations.txt", renderAnnotations(record)),
  sarif: ({ record }) => one("report.sarif", renderSarif(record)),
  events: ({ record }) => one("events.ndjson", renderEvents(record)),
  openmetrics: ({ record }) => one("metrics.txt", renderOpenMetrics(record)),
  "llm-d": (source) => renderLlmD(source),
} satisfies Record<string, Renderer>;

export type Format = keyof typeof RENDERERS;

export const FORMATS: Readonly<Record<Format, Renderer>> = RENDERERS;

/** What every run writes to its folder. */
export const DEFAULT_FORMATS: readonly Format[] = ["html", "junit", "ctrf", "markdown"];

export const ALL_FORMATS = Object.keys(FORMATS) as Format[];

function one(name: string, text: string): Files {
  return new Map([[name, text]]);
}

function htmlFiles(source: ReportSource, layout: Layout): Files {
  const files = renderHtml(source, layout);
  return layout === "single" ? files : new Map([...files].map(([name, text]) => [`report/${name}`, text]));
}
