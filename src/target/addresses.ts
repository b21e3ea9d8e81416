import { ConfigError, seededRandom } from "../core/index.ts";

/** How a request's address is chosen: each in turn, or at random. */
type AddressChoice = "round-robin" | "random";

/** The addresses of a service that has several, such as the replicas of a gateway; the first is also the base URL. */
export interface Addresses {
  /** Two or more, without duplicates. */
  readonly urls: readonly string[];
  readonly choice: AddressChoice;
}

interface TargetAddresses {
  readonly baseUrl: string;
  readonly addresses: Addresses | undefined;
}

/** All addresses of a target, at least one. */
export function addressesOf({ baseUrl, addresses }: TargetAddresses): readonly string[] {
  return addresses?.urls ?? [baseUrl];
}

/**
 * The address for one request.
 *
 * @param ordinal of the request, from 0. The same ordinal always gives the same address, so that threads and shards that divide a
 *   schedule choose like one process would.
 */
export function addressAt({ baseUrl, addresses }: TargetAddresses, ordinal: number): string {
  if (addresses === undefined) return baseUrl;
  const { urls, choice } = addresses;
  const index =
    choice === "round-robin" ? ordinal % urls.length : Math.floor(seededRandom(ordinal + 1)() * urls.length);
  return urls[index] ?? baseUrl;
}

/** The target with one address only. */
export function atAddress<T extends TargetAddresses>(target: T, url: string): T {
  return { ...target, baseUrl: url, addresses: undefined };
}

/** @throws ConfigError if the target has several addresses. @param what cannot use them, as the subject of a sentence. */
export function assertOneAddress(
  { source, addresses }: TargetAddresses & { readonly source: string },
  what: string,
): void {
  if (addresses === undefined) return;
  throw new ConfigError([
    {
      file: source,
      path: "addresses",
      message: `${what} supports only one address, but the target has ${addresses.urls.length}.`,
      hint: "Use a target file with baseUrl instead of addresses.",
    },
  ]);
}
