import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import MarkdownIt from "markdown-it";
import { type DefaultTreeAdapterTypes, parse, parseFragment } from "parse5";
import { parse as parseResults } from "test-results-parser";
import { validateXML } from "xmllint-wasm";

const load = createRequire(import.meta.url);

const OPTIONS = { strict: false, allErrors: true, unicodeRegExp: false } as const;

// Everything here reads our reports with third-party code.

/** Problems that libxml2 finds in an XML document. */
export async function xmlProblems(xml: string): Promise<readonly string[]> {
  const { errors } = await validateXML({
    xml: { fileName: "report.xml", contents: xml },
    normalization: "c14n",
    initialMemoryPages: 1024,
    maxMemoryPages: 4096,
  });
  return errors.map(({ message }) => message);
}

/** Reads a JUnit file like a tool that shows results in chats. */
export function readJunit(xml: string) {
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-junit-"));
  try {
    const file = join(folder, "junit.xml");
    writeFileSync(file, xml);
    return parseResults({ type: "junit", files: [file] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function schemaProblems(schema: object, document: unknown, ajv = new Ajv(OPTIONS)): string {
  formats.default(ajv);
  return ajv.validate(schema, document) ? "" : ajv.errorsText();
}

/** What is wrong with a Benchmark Report by the schema that its project publishes. */
export function llmDProblems(text: string): string[] {
  const path = join(import.meta.dirname, "../fixtures/llm-d/br_v0_2_json_schema.json");
  const problem = schemaProblems(JSON.parse(readFileSync(path, "utf8")), JSON.parse(text), new Ajv2020(OPTIONS));
  return problem === "" ? [] : [problem];
}

export function ctrfProblems(text: string): string {
  const path = join(load.resolve("ctrf"), "..", "ctrf-schema-0.0.json");
  return schemaProblems(JSON.parse(readFileSync(path, "utf8")), JSON.parse(text));
}

export function sarifProblems(text: string): string {
  const path = join(load.resolve("@microsoft/jest-sarif"), "..", "schemas", "sarif-2.1.0-rtm.5.json");
  // The schema names a draft that this validator no longer supports; it uses nothing that later drafts lack.
  const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(path, "utf8"));
  return schemaProblems(schema, JSON.parse(text));
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly { readonly value: string; readonly labels?: Readonly<Record<string, string>> }[];
}

export function readMetrics(text: string): readonly MetricFamily[] {
  const parsePrometheus = load("parse-prometheus-text-format") as (text: string) => MetricFamily[];
  return parsePrometheus(text);
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Every element of a document, as a browser's parser sees it. */
export function elementsOf(html: string): Element[] {
  return walk(parse(html));
}

/** Every element below another one, and the one itself. */
export function elementsIn(element: Element): Element[] {
  return walk(element);
}

/** Elements that a Markdown text renders to, if the host allows HTML. */
export function markdownElements(markdown: string): Element[] {
  return walk(parseFragment(new MarkdownIt({ html: true, linkify: false }).render(markdown)));
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((given) => given.name === name)?.value;
}

export function textOf(node: Node): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

function walk(node: Node): Element[] {
  const inside = "childNodes" in node ? node.childNodes.flatMap(walk) : [];
  return "tagName" in node ? [node, ...inside] : inside;
}
