import type { Reporter, TestModule } from "vitest/node";

/** Lists the tests that passed or failed only after a retry: one that often needs it is flaky and must be fixed. */
export class RetriesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap(({ relativeModuleId, children }) =>
      [...children.allTests()]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map(({ fullName }) => `  ${relativeModuleId}: ${fullName}\n`),
    );
    process.stdout.write(`retried tests: ${retried.length}\n${retried.join("")}`);
  }
}
