import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CHECKS, QUICK_INSTANCES } from "../../suites/index.ts";
import { type Check, type Instance, suiteOf, waitSOf } from "../checks/index.ts";
import { isObject, maskLikely, messageOf, UsageError } from "../core/index.ts";

const CHOSEN: ReadonlySet<string> = new Set(QUICK_INSTANCES);

const QUICK = { isQuick: true, loadFollows: false };

/** Whether an instance is part of a quick run: one of the quick set, or a custom check that does not wait. */
export function isQuick({ id, check }: Instance): boolean {
  if (CHECKS.includes(check)) return CHOSEN.has(id);
  return waitSOf(check, QUICK) === 0;
}

/**
 * The built-in checks, and those of custom suites: modules whose default export is a list of checks made with `defineCheck` and
 * `defineInvariant`.
 *
 * @throws UsageError when a module cannot be loaded, exports no checks, or reuses the id of an existing check.
 */
export async function checksWith(files: readonly string[]): Promise<readonly Check[]> {
  const checks = [...CHECKS];
  for (const file of files) {
    const own = await loadSuite(file);
    for (const check of own) {
      const known = checks.find(({ id }) => id === check.id);
      if (known !== undefined) throw new UsageError(`${file}: there is already a check "${check.id}"`);
      if (CHECKS.some(({ id }) => suiteOf(id) === suiteOf(check.id))) {
        throw new UsageError(`${file}: the suite of "${check.id}" is one of the built-in ones`, {
          hint: "Begin the ids with your own name.",
        });
      }
      checks.push(check);
    }
  }
  return checks;
}

async function loadSuite(file: string): Promise<readonly Check[]> {
  const path = resolve(file);
  let module: unknown;
  try {
    module = /\.[cm]?ts$/.test(path) ? await importTypeScript(path) : await import(pathToFileURL(path).href);
  } catch (error) {
    throw new UsageError(`the suite ${file} cannot be loaded: ${maskLikely(messageOf(error))}`, { cause: error });
  }
  const checks = isObject(module) ? module["default"] : (module as { default?: unknown } | undefined)?.default;
  if (Array.isArray(checks) && checks.length > 0 && checks.every(isCheck)) return checks;
  throw new UsageError(`${file} is not a suite: its default export must be a list of checks`, {
    hint: "Make them with defineCheck or defineInvariant of gateway-gauntlet.",
  });
}

function isCheck(value: unknown): value is Check {
  return (
    isObject(value) &&
    (value["kind"] === "sending" || value["kind"] === "invariant") &&
    typeof value["id"] === "string" &&
    typeof value["judge"] === "function" &&
    Array.isArray(value["covers"])
  );
}

/** Node reads TypeScript only from 22.18 on, and `import` in a .ts file only if package.json does not say "commonjs". */
async function importTypeScript(path: string): Promise<unknown> {
  const { createJiti } = await import("jiti");
  return createJiti(import.meta.url).import(path);
}
