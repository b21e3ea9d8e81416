import { isObject } from "../../src/core/index.ts";
import { targetJsonSchema } from "../../src/target/index.ts";

type Node = Record<string, unknown>;

/** Table of every field of the target file, from the schema that validates it. */
export function targetReference(): string {
  const requirements = membersOf(targetJsonSchema() as Node, "");
  return ["| field | value | meaning |", "|---|---|---|", ...requirements].join("\n");
}

function membersOf(node: Node, prefix: string): string[] {
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  return Object.entries((node["properties"] ?? {}) as Record<string, Node>).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const must = required.includes(name) ? ", required" : "";
    const description = typeof member["description"] === "string" ? member["description"] : "";
    return [`| \`${path}\` | ${cell(kindOf(member))}${must} | ${cell(description)} |`, ...nested(member, path)];
  });
}

function nested(member: Node, path: string): string[] {
  const list = member["items"];
  if (isObject(list)) return membersOf(list, `${path}[].`);
  const objects = [member, ...alternatives(member)].filter((node) => isObject(node["properties"]));
  const values = member["additionalProperties"];
  if (isObject(values) && isObject(values["properties"])) return membersOf(values, `${path}.<name>.`);
  return objects.flatMap((node) => membersOf(node, `${path}.`));
}

function alternatives(node: Node): Node[] {
  return Array.isArray(node["anyOf"]) ? node["anyOf"] : [];
}

function kindOf(node: Node): string {
  if (node["const"] !== undefined) return `\`${String(node["const"])}\``;
  if (Array.isArray(node["enum"])) return node["enum"].map((value) => `\`${String(value)}\``).join(", ");
  const inner = alternatives(node);
  if (inner.length > 0) return inner.map(kindOf).join(", or ");
  if (typeof node["pattern"] === "string" && node["pattern"].startsWith("^(env:")) return "reference to a key";
  if (node["type"] === "array") return "list";
  if (node["type"] === "object" && isObject(node["additionalProperties"])) return `map of ${namesOf(node)}`;
  return node["type"] === "string" ? "text" : String(node["type"]);
}

function namesOf(node: Node): string {
  const names = node["propertyNames"];
  return isObject(names) && Array.isArray(names["enum"])
    ? names["enum"].map((name) => `\`${name}\``).join(", ")
    : "names";
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
