import { hash } from 'node:crypto';
import { type AuditEntry, type AuditRecord, auditRecord } from './schema.ts';

/** The last record of a chain: what the next one follows. */
export interface ChainEnd {
  seq: number;
  hash: string;
}

export const chainStart: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

/**
 * The one spelling of a value: fields in the order of their code units, no blanks, and escaped whatever moves a
 * terminal's cursor or ends a line for some reader (C1 controls, line separators, marks of writing direction); JSON
 * itself escapes the rest. Values that JSON does not have are left out, as JSON does.
 */
function canonicalJson(value: unknown): string {
  return spelled(value).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function spelled(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => spelled(one)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined && typeof member !== 'function')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${spelled(member)}`);
  return `{${members.join(',')}}`;
}

/** The record that follows `end`, and the end of the chain with it. */
export function chained(entry: AuditEntry, time: number, end: ChainEnd): { line: string; end: ChainEnd } {
  const open = { ...entry, seq: end.seq + 1, time: new Date(time).toISOString(), prev: end.hash };
  const digest = hashOf(open);
  return { line: `${canonicalJson({ ...open, hash: digest })}\n`, end: { seq: open.seq, hash: digest } };
}

function hashOf(open: Omit<AuditRecord, 'hash'>): string {
  return hash('sha256', canonicalJson(open), 'hex');
}

/** A line as a record, whether or not it is a true one; null when it is none. */
export function parseRecord(line: string): AuditRecord | null {
  try {
    return auditRecord.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * What is wrong with a line that should follow `end`; null when it is sound.
 * @param end null where nothing is known of the record before
 */
export function faultOf(line: string, record: AuditRecord | null, end: ChainEnd | null): string | null {
  if (record === null) return 'it is not a record';
  const { hash: recordedHash, ...open } = record;
  // A changed spelling could contain a field twice, of which a reader sees the other one.
  if (canonicalJson(record) !== line) return 'it is not spelled as it was written';
  if (hashOf(open) !== recordedHash) return 'its hash does not fit what it says';
  if (end === null) return null;
  if (record.seq !== end.seq + 1) return `it has the number ${record.seq}, and ${end.seq + 1} was due`;
  if (record.prev !== end.hash) return 'it does not follow the record before it';
  return null;
}
