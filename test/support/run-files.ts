import { existsSync, readFileSync } from "node:fs";
import { constants, gunzipSync, gzipSync } from "node:zlib";

/**
 * Text of a compressed file of a run, as far as it goes: the run may still be writing, or was killed. Read with zlib's own gzip
 * reader instead of the run folder's.
 */
export function unzipped(path: string): string {
  if (!existsSync(path)) return "";
  const bytes = readFileSync(path);
  return bytes.length === 0 ? "" : gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString("utf8");
}

/** Any file of a run as searchable bytes: compressed ones are decompressed. */
export function searchable(path: string): Buffer {
  const bytes = readFileSync(path);
  if (!path.endsWith(".gz") || bytes.length === 0) return bytes;
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

/** Lines as a member of a file of a run. */
export function zipped(lines: readonly string[]): Buffer {
  const bytes = gzipSync(lines.map((line) => `${line}\n`).join(""));
  // The header of a run's files names no operating system, so that every machine writes the same.
  bytes[9] = 0xff;
  return bytes;
}
