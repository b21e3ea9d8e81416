/** Where a command leaves its exit code: yargs has no return value for handlers. */
export interface Outcome {
  exitCode: number;
}

export function leaveExitCode(argv: object, exitCode: number): void {
  (argv as { readonly outcome: Outcome }).outcome.exitCode = exitCode;
}
