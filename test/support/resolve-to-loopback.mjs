// Loaded with `--import` before a command starts: the name of somebody else's host, which is this machine in truth. Nothing that
// a test sends leaves it.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name === "gateway.example.test" ? "127.0.0.1" : name, ...rest);
syncBuiltinESMExports();
