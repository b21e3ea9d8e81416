/** Whether a key, by its name, belongs to a funded account without a nearby cap: it must always be accepted. */
export function isFundedKey(name: string | undefined): boolean {
  return name === "valid" || name === "second" || name === "other" || name?.startsWith("tiers.") === true;
}
