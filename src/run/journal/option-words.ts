/** An option as words of a command line, once for each value; nothing for values that are undefined. */
export function optionWords(name: string, ...values: readonly (string | number | undefined)[]): string[] {
  return values.flatMap((value) => (value === undefined ? [] : [`--${name}`, String(value)]));
}
