import { Document, isMap, parseDocument } from "yaml";

/** A line of a target file, and the evidence for it, if it was found out. */
export interface ProposedLine {
  /** Section, and the names below it. */
  readonly path: readonly string[];
  readonly value: unknown;
  readonly evidence?: string;
}

/** Evidence is shortened to fit behind a line; remarks are on separate lines. */
const MAX_EVIDENCE_CHARACTERS = 160;
const MAX_REMARK = 600;

/**
 * A target file with added lines. Existing content is unchanged; each added line has its evidence, if any, as a comment.
 *
 * @param remarks comments at the end of the file.
 */
export function withLines(file: string, lines: readonly ProposedLine[], remarks: readonly string[]): string {
  const document = parseDocument(file);
  const missing = lines.filter(({ path }) => !document.hasIn(path));
  // A file in flow style, such as JSON, ends with its closing brace: nothing can follow it.
  const isFlow = isMap(document.contents) && document.contents.flow === true;
  const inside = missing.filter(({ path: [section] }) => isFlow || document.has(section));
  const sections = new Document({});
  for (const line of inside) addLine(document, line);
  for (const line of missing.filter((line) => !inside.includes(line))) addLine(sections, line);
  // If no existing section gets a line, the existing text is kept as it is, except for line feeds at its end.
  const style = isFlow ? ({ defaultKeyType: "QUOTE_DOUBLE", defaultStringType: "QUOTE_DOUBLE" } as const) : {};
  const own = inside.length === 0 ? file.replace(/\n*$/, "\n") : document.toString({ lineWidth: 0, ...style });
  const added = missing.length === inside.length ? "" : sections.toString({ lineWidth: 0 });
  return own + added + remarks.map((remark) => `# ${inOneLine(remark, MAX_REMARK)}\n`).join("");
}

function addLine(document: Document, { path, value, evidence }: ProposedLine): void {
  const node = document.createNode(value, { flow: true });
  if (evidence !== undefined) node.comment = ` ${inOneLine(evidence)}`;
  for (let depth = 1; depth < path.length; depth++) {
    const section = path.slice(0, depth);
    const known = document.getIn(section);
    if (known === undefined) document.setIn(section, document.createNode({}));
    // A section in flow style has no room for comments.
    else if (isMap(known)) known.flow = false;
  }
  document.setIn(path, node);
}

/** Parts come from a gateway: no control characters, and nothing that ends the comment. */
function inOneLine(text: string, most = MAX_EVIDENCE_CHARACTERS): string {
  const line = text
    .slice(0, most * 4)
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
