/** Exit codes. Part of the interface; the table is in `docs/guide.md`. */
export const EXIT = {
  pass: 0,
  gateFailed: 1,
  usage: 2,
  unreachable: 3,
  inconclusive: 4,
  internal: 5,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
