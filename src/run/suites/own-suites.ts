import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CHECKS, QUICK_INSTANCES } from "../../../suites/index.ts";
import {
  type Check,
  type CustomSuite,
  customRequirementsOf,
  type Instance,
  type SendingCheck,
  suiteOf,
  waitSOf,
} from "../../checks/index.ts";
import { isObject, messageOf, UsageError } from "../../core/index.ts";
import { customSuiteOf, describeSuiteError, placeOfLast, placeOfText } from "./suite-error.ts";

const CHOSEN: ReadonlySet<string> = new Set(QUICK_INSTANCES);

const QUICK = { isQuick: true, includesLoad: false };

/** Whether an instance is part of a quick run: one of the quick set, or a custom check that does not wait. */
export function isQuick({ id, check }: Instance): boolean {
  if (CHECKS.includes(check)) return CHOSEN.has(id);
  return waitSOf(check, QUICK) === 0;
}

/**
 * The built-in checks, and those of custom suites: modules whose default export is a list of checks made with `defineCheck` and
 * `defineInvariant`.
 *
 * @throws UsageError when a module cannot be loaded, exports no checks, reuses a check id, or defines one requirement id in two
 *   ways.
 */
export async function checksWith(files: readonly string[]): Promise<readonly Check[]> {
  const checks = [...CHECKS];
  const declared = new Map<string, string>();
  for (const file of files) {
    const path = resolve(file);
    const loaded = await loadSuite(file, path);
    const customSuite = await customSuiteOf(path);
    for (const check of loaded) {
      const { id } = check;
      const place = () => placeOfText(path, `"${id}"`);
      if (CHECKS.some((builtIn) => suiteOf(builtIn.id) === suiteOf(id))) {
        throw new UsageError(`${place()}: "${suiteOf(id)}" is a built-in suite`, {
          hint: "Choose another prefix for the ids of your checks.",
        });
      }
      if (checks.some((known) => known.id === id)) {
        throw new UsageError(`${place()}: duplicate check id "${id}"`, { hint: "Give each check its own id." });
      }
      for (const requirement of customRequirementsOf([check])) {
        const { id: name } = requirement;
        const definition = JSON.stringify(requirement);
        if ((declared.get(name) ?? definition) !== definition)
          throw new UsageError(
            `${placeOfLast(path, `"${name}"`)}: the requirement "${name}" has two different definitions`,
            {
              hint: "Give each requirement its own id.",
            },
          );
        declared.set(name, definition);
      }
      checks.push(check.kind === "sending" ? withSafePlanning({ ...check, customSuite }) : { ...check, customSuite });
    }
  }
  return checks;
}

type CustomCheck = SendingCheck & { readonly customSuite: CustomSuite };

/** A check of a custom suite whose functions are also called before the run, where nothing else catches what they throw. */
function withSafePlanning(check: CustomCheck): CustomCheck {
  const { cost, schedule, dialect } = check;
  const safe =
    <A extends readonly unknown[], R>(name: string, call: (...given: A) => R) =>
    (...given: A): R => {
      try {
        return call(...given);
      } catch (error) {
        const { placeOf, placeOfCheck } = check.customSuite;
        const place = placeOf(error) ?? placeOfCheck(check.id);
        throw new UsageError(`error in your suite, ${place}: \`${name}\` of ${check.id}: ${messageOf(error)}`, {
          cause: error,
        });
      }
    };
  return {
    ...check,
    ...(typeof schedule === "function" && { schedule: safe("schedule", schedule) }),
    ...(typeof dialect === "function" && { dialect: safe("dialect", dialect) }),
    ...(typeof cost.requests === "function" && { cost: { ...cost, requests: safe("cost.requests", cost.requests) } }),
  };
}

async function loadSuite(file: string, path: string): Promise<readonly Check[]> {
  if (!existsSync(path)) throw new UsageError(`--suite: there is no file ${file}`);
  let module: unknown;
  try {
    module = /\.[cm]?ts$/.test(path) ? await importTypeScript(path) : await import(pathToFileURL(path).href);
  } catch (error) {
    const hint = /^Cannot find \w+ 'gateway-gauntlet'/.test(messageOf(error))
      ? INSTALL
      : `The suite ${file} cannot be loaded until this is fixed.`;
    throw new UsageError(await describeSuiteError(error, path), {
      hint,
      cause: error,
    });
  }
  const checks = defaultExportOf(module);
  if (Array.isArray(checks) && checks.length > 0 && checks.every(isCheck)) return checks;
  throw new UsageError(`${placeOfText(path, /^export default/m)} is not a suite: ${defectOf(checks)}`, {
    hint: "Create the checks with defineCheck or defineInvariant.",
  });
}

/** @returns `undefined` if there is none: jiti then offers all exports instead. */
function defaultExportOf(module: unknown): unknown {
  const exported = (module as { default?: unknown } | undefined)?.default;
  const isOwn = Array.isArray(exported) || (isObject(module) && Object.keys(module).includes("default"));
  return isOwn ? exported : undefined;
}

const INSTALL =
  "Install Gauntlet's tarball in the suite's project: npm install --save-dev ./gateway-gauntlet-*.tgz (never by its name).";

/** What is wrong with the default export of a suite. */
function defectOf(checks: unknown): string {
  const rule = "its default export must be a list of checks";
  if (!Array.isArray(checks))
    return `${rule}, but it is ${checks === undefined ? "missing" : `of type ${typeof checks}`}`;
  if (checks.length === 0) return `${rule}, but it is empty`;
  const index = checks.findIndex((check) => !isCheck(check));
  return `${rule}, but element ${index + 1} is not a check`;
}

function isCheck(value: unknown): value is Check {
  return (
    isObject(value) &&
    (value["kind"] === "sending" || value["kind"] === "invariant") &&
    typeof value["id"] === "string" &&
    typeof value["judge"] === "function" &&
    Array.isArray(value["covers"]) &&
    Array.isArray(value["requirements"])
  );
}

/** Node reads TypeScript only from 22.18 on, and `import` in a .ts file only if package.json does not say "commonjs". */
async function importTypeScript(path: string): Promise<unknown> {
  const { createJiti } = await import("jiti");
  return createJiti(import.meta.url).import(path);
}
