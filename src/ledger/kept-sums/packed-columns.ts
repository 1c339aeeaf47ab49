/** Columns of numbers of one length, by name; a column that is not there is all zeros. `facts` is what else is told: a JSON value. */
export interface PackedColumns {
  length: number;
  facts: unknown;
  columns: ReadonlyMap<string, Float64Array>;
}

/** Whole numbers of 1, 2 or 4 bytes without a sign, of 4 with one, or fractions. */
type Width = 'u8' | 'u16' | 'u32' | 'i32' | 'f64';

/** A column in the header: its name, how its elements are written, and how many units of them make one. */
type ColumnEntry = readonly [name: string, width: Width, scale: number];

interface Header {
  length: number;
  facts: unknown;
  columns: readonly ColumnEntry[];
}

/** Bytes of the length of the header. */
const HEADER_BYTES = 4;

/** A fraction is written as so many units, where all of its column are whole numbers of them: prices have few decimals. */
const scales = [1, 1e6, 1e7, 1e8, 1e9, 1e10] as const;

/**
 * Writes columns as bytes: the length of the header (4 bytes, little-endian), the header as JSON text, then each column. A column of zeros takes
 * no bytes.
 */
export function encodeColumns({ columns, facts, length }: PackedColumns): Uint8Array {
  const written = [...columns].filter(([, column]) => column.some((value) => value !== 0));
  const entries = written.map(([name, column]): ColumnEntry => [name, ...fittingWidth(column)]);
  const header: Header = { length, facts, columns: entries };
  const head = new TextEncoder().encode(JSON.stringify(header));
  const size = entries.reduce(
    (sum, [, width]) => sum + length * arrayOf(width, 0).BYTES_PER_ELEMENT,
    HEADER_BYTES + head.length,
  );
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, HEADER_BYTES);
  let at = HEADER_BYTES + head.length;
  for (const [index, [, width, scale]] of entries.entries()) {
    const packed = arrayOf(width, length);
    const column = written[index]?.[1] ?? new Float64Array(length);
    for (let place = 0; place < length; place += 1) {
      const value = column[place] ?? 0;
      packed[place] = scale === 1 ? value : Math.round(value * scale);
    }
    bytes.set(new Uint8Array(packed.buffer), at);
    at += packed.byteLength;
  }
  return bytes;
}

/** Columns that are read one after the other. */
export interface ColumnReader extends Pick<PackedColumns, 'facts' | 'length'> {
  /** @param room where each column is written, in the place of the last; at least as long as they are */
  eachColumn(room: Float64Array): Iterable<[name: string, column: Float64Array]>;
}

/** Reads what `encodeColumns` has written, without memory for all columns at once. Machines that run Node.js are little-endian. */
export function readColumns(bytes: Uint8Array): ColumnReader {
  const start = HEADER_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(HEADER_BYTES, start));
  const { columns, facts, length } = JSON.parse(text) as Header;
  return {
    length,
    facts,
    *eachColumn(room) {
      // All of one type, so that what adds them up is compiled for it.
      const column = room.subarray(0, length);
      let at = start;
      for (const [name, width, scale] of columns) {
        const packed = arrayOf(width, length);
        new Uint8Array(packed.buffer).set(bytes.subarray(at, at + packed.byteLength));
        at += packed.byteLength;
        column.set(packed);
        if (scale !== 1)
          for (let place = 0; place < length; place += 1) column[place] = (column[place] ?? 0) / scale;
        yield [name, column];
      }
    },
  };
}

function fittingWidth(column: Float64Array): [Width, number] {
  const scale = scales.find((units) => column.every((value) => isWhole(value, units)));
  if (scale === undefined) return ['f64', 1];
  let [least, most] = [0, 0];
  for (const value of column) {
    least = Math.min(least, value * scale);
    most = Math.max(most, value * scale);
  }
  if (least < 0) return ['i32', scale];
  if (most < 2 ** 8) return ['u8', scale];
  return [most < 2 ** 16 ? 'u16' : 'u32', scale];
}

/** Whether a value is a whole number of units that 4 bytes can hold, and nothing is lost by writing it so. */
function isWhole(value: number, units: number): boolean {
  const whole = Math.round(value * units);
  return whole / units === value && whole < 2 ** 31 && whole >= -(2 ** 31);
}

function arrayOf(width: Width, length: number) {
  switch (width) {
    case 'u8':
      return new Uint8Array(length);
    case 'u16':
      return new Uint16Array(length);
    case 'u32':
      return new Uint32Array(length);
    case 'i32':
      return new Int32Array(length);
    case 'f64':
      return new Float64Array(length);
  }
}
