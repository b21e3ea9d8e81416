import { execFileSync } from "node:child_process";

export interface Namespaces extends Disposable {
  /** Address at which the outside is reached from inside. */
  readonly host: string;
  readonly inside: readonly { readonly name: string; readonly address: string }[];
}

/**
 * Network namespaces on a separate bridge, like machines on a network.
 *
 * @returns `undefined` if this process may not create them.
 */
export function makeNamespaces(count: number): Namespaces | undefined {
  const tag = `gx${(process.pid % 46_656).toString(36)}`;
  const net = `10.213.${process.pid % 250}`;
  const ip = (...args: string[]) => execFileSync("ip", args, { stdio: "pipe" });
  const names = Array.from({ length: count }, (_, index) => `${tag}n${index + 1}`);
  const undo = () => {
    for (const args of [...names.map((name) => ["netns", "del", name]), ["link", "del", tag]]) {
      try {
        ip(...args);
      } catch {
        // Was not created, or no longer exists.
      }
    }
  };
  try {
    ip("link", "add", tag, "type", "bridge");
    ip("addr", "add", `${net}.1/24`, "dev", tag);
    ip("link", "set", tag, "up");
    for (const [index, name] of names.entries()) {
      const outer = `${tag}v${index + 1}`;
      const inner = `${tag}w${index + 1}`;
      ip("netns", "add", name);
      ip("link", "add", outer, "type", "veth", "peer", "name", inner);
      ip("link", "set", outer, "master", tag, "up");
      ip("link", "set", inner, "netns", name);
      ip("-n", name, "addr", "add", `${net}.${index + 2}/24`, "dev", inner);
      ip("-n", name, "link", "set", inner, "up");
      ip("-n", name, "link", "set", "lo", "up");
    }
  } catch {
    undo();
    return undefined;
  }
  const inside = names.map((name, index) => ({ name, address: `${net}.${index + 2}` }));
  return { host: `${net}.1`, inside, [Symbol.dispose]: undo };
}
