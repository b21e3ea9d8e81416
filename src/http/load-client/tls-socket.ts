import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";

/** Starts a TLS connection to the host of a URL. @param protocols to choose from, in order of preference. */
export function tlsSocket(url: URL, protocols: string[]): TLSSocket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A server name is never an IP address (RFC 6066, 3).
  const servername = isIP(host) === 0 ? host : "";
  return connect({ host, port: Number(url.port) || 443, servername, ALPNProtocols: protocols });
}
