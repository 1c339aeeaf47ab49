import { join } from 'node:path';
import { type ChainEnd, chainStart, faultOf, parseRecord } from './chain.ts';
import { auditFiles, linesOf } from './files.ts';
import type { AuditRecord } from './schema.ts';

export interface AuditFault {
  file: string;
  /** Counts from 1. */
  line: number;
  /** Of the record at fault, as it says itself; null where it is none. */
  seq: number | null;
  /** A sentence without its full stop. */
  reason: string;
}

export interface Verification {
  ok: boolean;
  files: number;
  /** Sound records up to the first that is not. */
  records: number;
  first: ChainEnd | null;
  /** The last sound record. Whoever keeps its hash elsewhere can tell later whether the end was cut off. */
  last: ChainEnd | null;
  fault: AuditFault | null;
  /** The last line is unfinished: it is being written, or its writer was killed. The next writer sets it aside. */
  unfinished: boolean;
}

/** Walks the whole chain and stops at the first record that is not what was written. */
export async function verifyAudit(folder: string): Promise<Verification> {
  const files = await auditFiles(folder);
  const walk: Verification = {
    ok: true,
    files: files.length,
    records: 0,
    first: null,
    last: null,
    fault: null,
    unfinished: false,
  };
  let start: { prev: ChainEnd; file: string } | null = null;
  const removed = new Set<string>();
  for (const file of files) {
    let line = 0;
    for await (const { isComplete, text } of linesOf(join(folder, file))) {
      line += 1;
      if (!isComplete && file === files.at(-1)) {
        walk.unfinished = true;
        break;
      }
      const record = parseRecord(text);
      const reason = faultOf(text, record, walk.last);
      if (reason !== null || record === null)
        return { ...walk, ok: false, fault: { file, line, seq: record?.seq ?? null, reason: reason ?? '' } };
      start ??= { prev: { seq: record.seq - 1, hash: record.prev }, file };
      walk.last = { seq: record.seq, hash: record.hash };
      walk.first ??= walk.last;
      walk.records += 1;
      noteRemoval(record, removed);
    }
  }
  if (start === null || isBeginning(start.prev) || removed.has(nameOf(start.prev))) return walk;
  const reason = `the records up to ${start.prev.seq} are missing, and none says that they were removed for their age`;
  return { ...walk, ok: false, fault: { file: start.file, line: 1, seq: start.prev.seq + 1, reason } };
}

function isBeginning({ hash, seq }: ChainEnd): boolean {
  return seq === chainStart.seq && hash === chainStart.hash;
}

/** What retention removed was said in a record before. */
function noteRemoval({ action, actor, after }: AuditRecord, removed: Set<string>): void {
  if (action !== 'audit.removed' || actor.via !== 'gateway') return;
  removed.add(nameOf({ seq: Number(after?.['last_seq']), hash: String(after?.['last_hash']) }));
}

function nameOf({ hash, seq }: ChainEnd): string {
  return `${seq} ${hash}`;
}
