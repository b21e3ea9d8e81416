/** Why an address is rejected, without repeating it, because it may contain a key; `undefined` if it is accepted. */
export function addressProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:\/\/[^\s/]/i.test(text)) return "must be an http:// or https:// address";
  // An empty query or fragment is not in `search` and `hash`.
  const isBare = url.username === "" && url.password === "" && !/[?#]/.test(text) && !/^https?:\/\/[^/]*@/i.test(text);
  return isBare
    ? undefined
    : "must not contain a user name, a password, a query or a fragment, because reports show the address";
}
