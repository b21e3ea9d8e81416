import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { defineConfig, type TestProjectConfiguration, type ViteUserConfig } from "vitest/config";
import { RetriesReporter } from "./retries-reporter.ts";

/** The line `// real-time: REASON` marks a test file that depends on real time. */
const REAL_TIME = /^\/\/ real-time: \S/m;
/** Text that shows that a test, or a file that it imports from `test` or `scripts`, starts a process, a browser or k6. */
const PROCESS = /node:child_process|playwright-core|dist\/src|k6\/support/;
const IMPORT = / from "(\.{1,2}\/[^"]+)"/g;

/** Whether a test starts processes: then it needs the build, and is slow. */
function startsProcess(file: string, seen = new Set<string>()): boolean {
  seen.add(file);
  const text = readFileSync(file, "utf8");
  if (PROCESS.test(text)) return true;
  return [...text.matchAll(IMPORT)]
    .map(([, path = ""]) => normalize(join(dirname(file), path)))
    .filter((path) => /^(test|scripts)\//.test(path) && !seen.has(path) && existsSync(path))
    .some((path) => startsProcess(path, seen));
}

function groupOf(file: string): "fast" | "processes" | "real-time" {
  if (REAL_TIME.test(readFileSync(file, "utf8"))) return "real-time";
  return startsProcess(file) ? "processes" : "fast";
}

/** The test files, in the order of their names. */
export function allTests(): string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).map(
    (path) => `test/${path.replaceAll("\\", "/")}`,
  );
  return files.filter((path) => path.endsWith(".test.ts")).sort();
}

/**
 * The tests in three groups, each a project of vitest. Only those that depend on real time are retried, once: one failure may
 * only mean that the machine was busy. The fast tests load modules once per worker and not once per file, which
 * halves their CPU time.
 *
 * The tests that depend on real time run after the others: they wait more than they compute, and what they measure must not be the
 * other tests.
 */
function testGroups(files: readonly string[]): TestProjectConfiguration[] {
  const group = (
    name: ReturnType<typeof groupOf>,
    more: { retry?: number; globalSetup?: string; isolate?: boolean; sequence?: { groupOrder: number } },
  ) => ({
    extends: true as const,
    test: { name, include: files.filter((file) => groupOf(file) === name), ...more },
  });
  const globalSetup = "test/support/unpack-browser.ts";
  return [
    group("fast", { isolate: false }),
    group("processes", { globalSetup, isolate: false }),
    group("real-time", { globalSetup, retry: 1, sequence: { groupOrder: 1 } }),
  ].filter(({ test }) => test.include.length > 0);
}

/** The configuration of vitest for these test files. @param options.testTimeout default: 60 s, ms */
export function testConfig(
  files: readonly string[],
  options: { readonly maxWorkers: number; readonly testTimeout?: number },
): ViteUserConfig {
  return defineConfig({
    test: {
      // Commands behave as they do for a person: a CI service sets this, and then a target must be named.
      env: { CI: "" },
      projects: testGroups(files),
      reporters: ["default", new RetriesReporter()],
      // Real sockets and processes on shared machines: generous, because a hang is what it should catch, not slowness.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      pool: "forks",
      // Most of a judgement is waiting.
      maxConcurrency: 8,
      ...options,
    },
  });
}
