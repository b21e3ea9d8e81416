import type { Reporter, TestModule } from "vitest/node";

/** Says at the end how many tests needed a second try, and which: a test that often does is a finding of its own. */
export class RetriesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap(({ relativeModuleId, children }) =>
      [...children.allTests()]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map(({ fullName }) => `  ${relativeModuleId}: ${fullName}\n`),
    );
    process.stdout.write(`${retried.length} tests needed a second try\n${retried.join("")}`);
  }
}
