/**
 * Archives as `tar` makes and reads them (POSIX.1-1988, "ustar"), as far as a backup needs them: regular files with
 * short names. Whatever else an archive holds is refused, so that no path, link or device in it can do harm.
 */

const BLOCK = 512;
const MODE = 0o600;

export interface TarMember {
  name: string;
  bytes: number;
  /** Has to be read before the next member is asked for. */
  content: AsyncIterable<Buffer>;
}

/** The block before a member. @param time seconds since the epoch */
export function tarHeader(name: string, bytes: number, time: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'latin1');
  block.write(octal(MODE, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  // Sizes from 8 GiB up are written as numbers of base 256, as GNU tar does.
  if (bytes < 8 ** 11) block.write(octal(bytes, 12), 124);
  else {
    block.writeBigUInt64BE(BigInt(bytes), 128);
    block[124] = 0x80;
  }
  block.write(octal(time, 12), 136);
  block.write('0', 156);
  block.write('ustar\u000000', 257, 'latin1');
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** What fills a member up to whole blocks. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}

/** Two empty blocks. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

/**
 * The members of an archive.
 * @throws Error that says what is wrong with it
 */
export async function* tarMembers(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const source = reader(chunks);
  for (;;) {
    const block = await source.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    const { bytes, name } = parseHeader(block);
    let left = bytes;
    const content = async function* (): AsyncGenerator<Buffer> {
      while (left > 0) {
        const piece = await source.some(left);
        left -= piece.length;
        yield piece;
      }
    };
    yield { name, bytes, content: content() };
    if (left > 0) throw new Error(`the member ${name} was not read`);
    await source.exactly(tarPadding(bytes).length);
  }
}

function parseHeader(block: Buffer): { name: string; bytes: number } {
  const headerSum = Number.parseInt(textAt(block, 148, 8), 8);
  const unsigned = Buffer.from(block);
  unsigned.fill(' ', 148, 156);
  if (headerSum !== checksum(unsigned)) throw new Error('it is not a tar archive, or is damaged');
  const name = textAt(block, 0, 100);
  const type = String.fromCharCode(block[156] ?? 0);
  if ((type !== '0' && type !== '\0') || textAt(block, 345, 155) !== '')
    throw new Error(`its member ${JSON.stringify(name)} is not a plain file`);
  const bytes =
    block[124] === 0x80
      ? Number(block.readBigUInt64BE(128))
      : Number.parseInt(textAt(block, 124, 12).trim() || '0', 8);
  if (!Number.isSafeInteger(bytes) || bytes < 0)
    throw new Error(`its member ${JSON.stringify(name)} has no size`);
  return { name, bytes };
}

/** The sum of the bytes, with blanks where the sum itself stands. */
function checksum(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}

function textAt(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString('latin1');
}

interface Reader {
  /** At most so many bytes, at least one. */
  some(most: number): Promise<Buffer>;
  exactly(bytes: number): Promise<Buffer>;
}

function reader(chunks: AsyncIterable<Buffer>): Reader {
  const source = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const some: Reader['some'] = async (most) => {
    while (rest.length === 0) {
      const next = await source.next();
      if (next.done === true) throw new Error('it ends too early');
      rest = next.value;
    }
    const piece = rest.subarray(0, most);
    rest = rest.subarray(piece.length);
    return piece;
  };
  return {
    some,
    async exactly(bytes) {
      const pieces: Buffer[] = [];
      for (let left = bytes; left > 0; ) {
        const piece = await some(left);
        pieces.push(piece);
        left -= piece.length;
      }
      return Buffer.concat(pieces);
    },
  };
}
