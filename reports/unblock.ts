import { isDeepStrictEqual } from "node:util";
import { Document, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { member } from "../src/core/index.ts";
import type { RunRecord } from "../src/record/index.ts";
import { oneLine, visible } from "./clean-text.ts";

/** A reference to a key: a key that the file already names is kept. */
const REFERENCE = /^(env|file):/;
/** What the user has to fill in. */
const PLACEHOLDER = /^<.*>$/;

/**
 * The lines that would unblock checks, as one YAML document: sections of the target file merged with the file's existing
 * content, so that they can replace the sections of the same name.
 *
 * @param configuration the target file as written.
 * @returns text that ends in a line feed; `undefined` when no check has such lines. Lines of suites that are not YAML are
 * appended as comments.
 */
export function unblockYaml(
  checks: readonly { readonly unblock: readonly string[] }[],
  configuration: unknown,
): string | undefined {
  const texts = [...new Set(checks.map(({ unblock }) => unblock.join("\n")))].filter((text) => text !== "");
  const parts = texts.map((text) => ({ text, document: parseDocument(text, { uniqueKeys: false }) }));
  const merged = new Document({}) as Document<YAMLMap, false>;
  const unreadable: string[] = [];
  for (const { text, document } of parts) {
    const { contents, errors } = document;
    if (errors.length > 0 || !isMap(contents)) {
      unreadable.push(...text.split("\n"));
      continue;
    }
    for (const { key } of contents.items) {
      const own = member(configuration, String(key));
      if (own !== undefined && !merged.has(String(key))) merged.set(String(key), merged.createNode(own));
    }
    mergeInto(merged.contents, contents);
  }
  const yaml = merged.contents.items.length === 0 ? "" : merged.toString({ lineWidth: 0 });
  const text = yaml + unreadable.map((line) => `# ${oneLine(line)}\n`).join("");
  return text === "" ? undefined : visible(text);
}

/** How to use the block. */
export function pasteInto({ target }: Pick<RunRecord, "target">): string {
  const file = target.source === "embedded" ? "a target file" : target.source;
  return `To run them, replace these sections of ${file} (they include what is already there):`;
}

function mergeInto(map: YAMLMap, added: YAMLMap): void {
  for (const { key, value } of added.items) {
    const name = String(key);
    const own = map.get(name, true) as Node | undefined;
    map.set(name, own === undefined ? value : mergedNode(own, value as Node));
  }
}

/** Adds an item if it is missing. An account, which has a key, only gets its missing fields: existing values stay. */
function addItem(list: YAMLSeq, added: Node): void {
  const known = list.items as Node[];
  if (known.some((item) => isDeepStrictEqual(item.toJS(PLAIN), added.toJS(PLAIN)))) return;
  const same = known.find(
    (item) => isMap(item) && isMap(added) && item.has("key") && item.get("key") === added.get("key"),
  );
  if (!isMap(same) || !isMap(added)) return void list.add(added);
  for (const { key, value } of added.items) if (!same.has(String(key))) same.set(String(key), value);
}

/** For values without references. */
const PLAIN = new Document();

/** Merges two lines of the same name. */
function mergedNode(own: Node, added: Node): Node {
  if (isMap(own) && isMap(added)) {
    mergeInto(own, added);
    return own;
  }
  if (isSeq(own) && isSeq(added)) {
    for (const item of added.items) addItem(own, item as Node);
    return own;
  }
  if (isScalar(own) && typeof own.value === "string") {
    const isReference = REFERENCE.test(own.value) && isScalar(added) && REFERENCE.test(String(added.value));
    if (isReference) own.comment = (added.comment ?? own.comment) || null;
    if (isReference || PLACEHOLDER.test(own.value)) return own;
  }
  // The larger of two budgets covers both.
  const isLess = isScalar(own) && isScalar(added) && Number(own.value) > Number(added.value);
  return isLess ? own : added;
}
