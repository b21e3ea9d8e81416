/** Wire types of protobuf. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

/**
 * Writes a protobuf message field by field: only the field types that OTLP uses.
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export class ProtobufMessage {
  readonly #parts: Buffer[] = [];

  /** An integer of 0 or more, a boolean as 0 or 1, or an enum. */
  varint(field: number, value: number): this {
    return this.#put(field, VARINT, varint(BigInt(Math.round(value))));
  }

  /** An integer of 0 or more. */
  fixed64(field: number, value: bigint): this {
    return this.#put(field, FIXED64, fixed64(value));
  }

  double(field: number, value: number): this {
    return this.#put(field, FIXED64, double(value));
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, "utf8"));
  }

  bytes(field: number, value: Buffer): this {
    return this.#put(field, LENGTH_DELIMITED, Buffer.concat([varint(BigInt(value.length)), value]));
  }

  /** One field per message: `repeated` if there are several. */
  messages(field: number, ...messages: readonly ProtobufMessage[]): this {
    for (const message of messages) this.bytes(field, message.encode());
    return this;
  }

  packedFixed64(field: number, values: readonly number[]): this {
    return this.bytes(field, Buffer.concat(values.map((value) => fixed64(BigInt(value)))));
  }

  packedDoubles(field: number, values: readonly number[]): this {
    return this.bytes(field, Buffer.concat(values.map(double)));
  }

  encode(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #put(field: number, wireType: number, value: Buffer): this {
    this.#parts.push(varint(BigInt(field * 8 + wireType)), value);
    return this;
  }
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return Buffer.from(bytes);
}

function fixed64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}
