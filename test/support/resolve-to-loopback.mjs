// Loaded with `--import` before a command starts: resolves the name of another host to this machine, so that no test sends
// requests to the network.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name === "gateway.example.test" ? "127.0.0.1" : name, ...rest);
syncBuiltinESMExports();
