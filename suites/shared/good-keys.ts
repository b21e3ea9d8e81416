/** Whether a key, by its name, belongs to a funded account and has no cap near: it must always be let in. */
export function isGoodKey(name: string | undefined): boolean {
  return name === "valid" || name === "second" || name === "other" || name?.startsWith("tiers.") === true;
}
