/** CRC-32 by its definition (ISO 3309), apart from the one under test. */
export function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** A frame of AWS's event streams. */
export function eventFrame(headers: Readonly<Record<string, string>>, payload: Buffer | string): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => textHeader(name, value)));
  const prelude = Buffer.concat([uint32(16 + head.length + body.length), uint32(head.length)]);
  const start = Buffer.concat([prelude, uint32(checksum(prelude)), head, body]);
  return Buffer.concat([start, uint32(checksum(start))]);
}

/** A piece of a model's answer, as Bedrock sends it. */
export function chunkFrame(event: object | string): Buffer {
  const text = typeof event === 'string' ? event : JSON.stringify(event);
  const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
  return eventFrame(headers, JSON.stringify({ bytes: Buffer.from(text).toString('base64'), p: 'abcdefgh' }));
}

export function exceptionFrame(type: string, message: string): Buffer {
  const headers = {
    ':exception-type': type,
    ':content-type': 'application/json',
    ':message-type': 'exception',
  };
  return eventFrame(headers, JSON.stringify({ message }));
}

/** The data of server-sent events, each in a frame. */
export function framesOf(stream: string): Buffer[] {
  return [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => chunkFrame(data));
}

function textHeader(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.from([text.length >> 8, text.length & 255]);
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7]), length, text]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
