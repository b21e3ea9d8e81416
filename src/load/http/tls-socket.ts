import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";

/** Begins a TLS connection to the host of an address. @param protocols to choose from, in order of liking. */
export function tlsSocket(url: URL, protocols: string[]): TLSSocket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A server's name is never an address (RFC 6066, 3).
  const servername = isIP(host) === 0 ? host : "";
  return connect({ host, port: Number(url.port) || 443, servername, ALPNProtocols: protocols });
}
