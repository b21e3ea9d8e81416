/** The parts of an exchange that a reproduction needs; already redacted. */
export interface Reproducible {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly body?: string | undefined;
  };
  readonly key?: string | undefined;
}

/** Longest body that is printed: a reader copies it by hand. */
const MAX_BODY_CHARACTERS = 2_000;

/**
 * A command that repeats a request, with the key in a variable.
 *
 * @param variableOf name of the environment variable that holds a key, by the key's name.
 */
export function curlLine({ request, key }: Reproducible, variableOf: (key: string) => string): string {
  const parts = ["curl", "-sS", "-i", ...(request.method === "GET" ? [] : ["-X", request.method]), quote(request.url)];
  for (const [name, value] of request.headers) {
    const credential = key !== undefined && name.toLowerCase() === "authorization";
    // Double quotes let the shell expand the variable.
    parts.push("-H", credential ? `"${name}: Bearer $${variableOf(key)}"` : quote(`${name}: ${value}`));
  }
  if (request.body !== undefined) {
    const whole = request.body.length <= MAX_BODY_CHARACTERS;
    parts.push("--data-binary", quote(whole ? request.body : `${request.body.slice(0, MAX_BODY_CHARACTERS)}…`));
  }
  return parts.join(" ");
}

/**
 * Quoted for a shell. Non-printable characters are written as escapes, so that a terminal neither interprets them nor reorders
 * the line.
 */
function quote(text: string): string {
  if (!UNPLAIN.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replace(/['\\]/g, "\\$&").replace(new RegExp(UNPLAIN, "gu"), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `$'${escaped}'`;
}

const UNPLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The variable that the target file names for a key, or a default name. */
export function keyVariables(configuration: unknown): (key: string) => string {
  const references = new Map<string, string>();
  collect(configuration, [], references);
  return (key) => references.get(key) ?? `GAUNTLET_KEY_${key.replace(/[^A-Za-z0-9]/g, "_").toUpperCase()}`;
}

function collect(value: unknown, path: readonly string[], references: Map<string, string>): void {
  if (typeof value === "string" && value.startsWith("env:")) {
    references.set(path[0] === "keys" ? path.slice(1).join(".") : path.join("."), value.slice(4));
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) collect(inner, [...path, name], references);
}
