const SQLITE_BUSY = 5;

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const damage: readonly number[] = [11, 26];

/** SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE. */
const rowFaults: readonly number[] = [19, 20, 18, 25];

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

/** The file is damaged, or no database. */
export function isCorrupt(error: unknown): boolean {
  const code = resultCode(error);
  return code !== null && damage.includes(code);
}

/** The database is sound and the values are not: a constraint, a size, or a type that cannot be stored. */
export function isRowFault(error: unknown): boolean {
  const code = resultCode(error);
  if (code !== null) return rowFaults.includes(code);
  return error instanceof TypeError || error instanceof RangeError;
}

/** The primary result code stands in the low byte (sqlite.org, "Result and Error Codes"). */
function resultCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
}
