/** Why an address cannot be used, in words that do not repeat it: it may hold a key. `undefined` when it can. */
export function addressProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:\/\/[^\s/]/i.test(text)) return "must be an http:// or https:// address";
  // An empty query or fragment is not in `search` and `hash`.
  const isBare = url.username === "" && url.password === "" && !/[?#]/.test(text) && !/^https?:\/\/[^/]*@/i.test(text);
  return isBare ? undefined : "must not hold a user, a password, a query or a fragment: reports show the address";
}
