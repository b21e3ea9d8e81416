import { UsageError } from "../errors.ts";

/**
 * A key given by reference. The key itself is never on the command line, which every user of the machine can read.
 *
 * @param option that has the reference, as typed. @throws UsageError for anything but `env:NAME` of a variable that is set.
 */
export function keyByReference(option: string, reference: string): string {
  const name = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(reference)?.[1];
  if (name === undefined)
    throw new UsageError(`${option}: a reference is expected, not a key`, {
      hint: `Put the key into an environment variable and pass ${option} env:NAME.`,
    });
  const key = process.env[name]?.trim();
  if (key === undefined || key === "") throw new UsageError(`${option}: the environment has no ${name}`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UsageError(`${option}: ${name} contains characters that cannot be sent in a header`, {
      hint: "A key is one line of visible ASCII, without the word Bearer before it.",
    });
  return key;
}
