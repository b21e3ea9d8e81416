import type { Reporter, TestModule } from "vitest/node";

/** Prints at the end which tests were retried: one that is retried often needs to be fixed. */
export class RetriesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap(({ relativeModuleId, children }) =>
      [...children.allTests()]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map(({ fullName }) => `  ${relativeModuleId}: ${fullName}\n`),
    );
    process.stdout.write(`${retried.length} tests were retried\n${retried.join("")}`);
  }
}
