// node -r ./loopback.cjs SERVER: makes a program listen on loopback only, whatever address it requests. Portkey has no such option.
const { Server } = require("node:net");

const { listen } = Server.prototype;
const LOOPBACK = "127.0.0.1";

Server.prototype.listen = function listenOnLoopback(first, second, ...more) {
  if (typeof first === "object" && first?.port !== undefined) {
    return listen.call(this, { ...first, host: LOOPBACK }, second, ...more);
  }
  if (!Number.isInteger(Number(first))) return listen.call(this, first, second, ...more);
  const rest = typeof second === "string" ? more : [second, ...more];
  return listen.call(this, first, LOOPBACK, ...rest);
};
