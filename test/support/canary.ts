import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Every file below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** The long parts of a key, and its encoded forms. */
export function tracesOf(key: string): string[] {
  const half = Math.ceil(key.length / 2);
  const parts = Array.from({ length: key.length - half + 1 }, (_, at) => key.slice(at, at + half));
  return [...parts, Buffer.from(key).toString("base64").slice(0, 24), encodeURIComponent(key)];
}

/** A key that occurs nowhere else. */
export const canaryKey = (name: string): string =>
  `ck-${name}-${Buffer.from(name.padEnd(18, "~")).toString("hex").slice(0, 30)}Zq9`;
