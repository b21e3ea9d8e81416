import { isObject, member } from "../../core/index.ts";

/** The fields of a target file that plain load needs, except keys. */
const FIELDS = [
  ...["name", "baseUrl", "dialects", "headers", "contract", "models", "budget", "circuit", "prices", "authorized"],
  ...["http", "timeouts"],
];

/**
 * A target file for pods: the part that plain load needs. Keys and headers that are references stay references to variables,
 * which come from a Secret; a reference to a file on this machine becomes such a variable as well.
 */
export function targetForPods(configuration: unknown): { readonly file: object; readonly secrets: readonly string[] } {
  const secrets: string[] = [];
  const refer = (reference: unknown, variable: string): unknown => {
    if (typeof reference !== "string" || !/^(?:env|file):/.test(reference)) return reference;
    const name = reference.startsWith("env:") ? reference.slice("env:".length) : variable;
    if (!secrets.includes(name)) secrets.push(name);
    return `env:${name}`;
  };
  const valid = refer(member(member(configuration, "keys"), "valid"), "GAUNTLET_KEY");
  const extra = member(configuration, "extraHeaders");
  let headers = 0;
  const extraHeaders =
    isObject(extra) &&
    Object.fromEntries(
      Object.entries(extra).map(([where, map]) => [
        where,
        Object.fromEntries(
          Object.entries(isObject(map) ? map : {}).map(([name, value]) => [
            name,
            refer(value, `GAUNTLET_HEADER_${++headers}`),
          ]),
        ),
      ]),
    );
  const kept = FIELDS.map((name) => [name, member(configuration, name)]).filter(([, value]) => value !== undefined);
  return { file: { ...Object.fromEntries(kept), keys: { valid }, ...(extraHeaders && { extraHeaders }) }, secrets };
}
