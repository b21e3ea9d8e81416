/** The module of a custom suite: where its checks and their mistakes are. */
export interface CustomSuite {
  /** The place of what was thrown by its code, such as `own-suite.ts:14:8`; `undefined` if no place in the suite is known. */
  placeOf(thrown: unknown): string | undefined;
  /** The place of a check's id, or the file if the id is not in its text. */
  placeOfCheck(id: string): string;
}
