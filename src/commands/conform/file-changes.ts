import { type FSWatcher, readFileSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileProblem, UsageError } from "../../core/index.ts";

/** Editors write a file in several steps: what happens within this time is one change, ms. */
const SETTLE_MS = 200;

interface Watched {
  /** As the user named it. */
  readonly name: string;
  readonly path: string;
  /** `undefined` while the file does not exist. */
  text: string | undefined;
}

/** Notices when the contents of files change; a file that is saved unchanged has not changed. */
export class FileChanges implements Disposable {
  readonly #files: readonly Watched[];
  readonly #watchers: readonly FSWatcher[];
  #settling: NodeJS.Timeout | undefined;
  #changed: readonly string[] = [];
  #onChange: ((names: readonly string[]) => void) | undefined;

  /** @throws UsageError if a folder cannot be watched. */
  constructor(files: readonly string[]) {
    this.#files = files.map((name) => ({ name, path: resolve(name), text: textOf(name) }));
    // Folders: an editor that replaces a file would end the watch of the file itself.
    const folders = new Set(this.#files.map(({ path }) => dirname(path)));
    this.#watchers = [...folders].map((folder) => this.#watch(folder));
  }

  /** Resolves with the names of the files that have changed since the previous call. */
  async next(): Promise<readonly string[]> {
    const names =
      this.#changed.length > 0
        ? this.#changed
        : await new Promise<readonly string[]>((found) => {
            this.#onChange = found;
          });
    this.#changed = [];
    return names;
  }

  #watch(folder: string): FSWatcher {
    try {
      return watch(folder, (_event, name) => {
        if (name !== null && !this.#files.some(({ path }) => basename(path) === name)) return;
        clearTimeout(this.#settling);
        this.#settling = setTimeout(() => this.#compare(), SETTLE_MS);
      });
    } catch (error) {
      throw new UsageError(`--watch: ${folder} cannot be watched: ${fileProblem(error)}`, { cause: error });
    }
  }

  #compare(): void {
    const changed = this.#files.filter((file) => {
      const before = file.text;
      file.text = textOf(file.path) ?? before;
      return file.text !== before;
    });
    if (changed.length === 0) return;
    this.#changed = [...new Set([...this.#changed, ...changed.map(({ name }) => name)])];
    this.#onChange?.(this.#changed);
    this.#onChange = undefined;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers) watcher.close();
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Being replaced, or not written yet: another event follows.
    return undefined;
  }
}
