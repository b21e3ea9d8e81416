/** Header fields in their order and letter case on the wire; a name may occur several times. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Every value sent under a name, in order. Names are case-insensitive (RFC 9110, 5.1). */
export function headerValues(headers: HeaderList, name: string): readonly string[] {
  const lowerCaseName = name.toLowerCase();
  return headers.filter(([candidate]) => candidate.toLowerCase() === lowerCaseName).map(([, value]) => value);
}

/** The value of a header: repeated fields are one list, joined by commas (RFC 9110, 5.3). `undefined` if absent. */
export function header(headers: HeaderList, name: string): string | undefined {
  const values = headerValues(headers, name);
  return values.length === 0 ? undefined : values.join(", ");
}

/** The media type of a `Content-Type`, lower case and without parameters; empty if there is none. */
export function mediaType(headers: HeaderList): string {
  return (header(headers, "content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Headers in which gateways are known to send a request identifier (REQID-1 does not specify the name). */
const REQUEST_ID_HEADERS = [
  "x-request-id",
  "request-id",
  "x-amzn-requestid",
  "cf-ray",
  "x-trace-id",
  "x-correlation-id",
];

/** The first value that looks like a request identifier, to be quoted in a support request (CLIENT-6). */
export function requestId(headers: HeaderList): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const value = header(headers, name);
    if (value !== undefined && value !== "") return value;
  }
  return headers.find(([name]) => /request-?id$/i.test(name))?.[1];
}
