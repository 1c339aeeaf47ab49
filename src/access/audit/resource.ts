import { join } from 'node:path';
import { attributesOf } from '../../http/collection/attributes.ts';
import { select } from '../../http/collection/select.ts';
import type { ListQuery, Page, Resource, Row } from '../../http/resource.ts';
import { parseRecord } from './chain.ts';
import { auditFiles, linesOf, newestLines } from './files.ts';
import { type AuditRecord, auditRow } from './schema.ts';

/** How many records, the newest, can be seen through the API. All of them are in the files. */
const WINDOW = 20_000;

/** The audit log, newest first. `gateway audit list` reads the files beyond what is shown here. */
export function auditResource({ folder }: { folder: string }): Resource {
  const attributes = attributesOf(auditRow, new Set());
  return {
    name: 'audit',
    title: 'Audit log',
    summary: `Who changed or tried what, and what was refused, newest first, of the last ${WINDOW} records.`,
    record: auditRow,
    read: 'audit:read',
    page: async (query) =>
      isPlain(query)
        ? newest(folder, query)
        : select((await records(folder, WINDOW)).map(rowOf), query, attributes),
    async find(id) {
      if (!/^[1-9]\d{0,14}$/.test(id)) return null;
      const seq = Number(id);
      let seen = 0;
      for await (const line of newestLines(folder)) {
        const record = parseRecord(line);
        if (record?.seq === seq) return rowOf(record);
        // The numbers fall, so what is smaller says that the one sought is not there.
        if (++seen >= WINDOW || (record !== null && record.seq < seq)) return null;
      }
      return null;
    },
  };
}

/** Neither filtered nor sorted: only the page itself has to be read. */
function isPlain({ groups, sort }: ListQuery): boolean {
  return groups.length === 0 && sort.length === 0;
}

async function newest(folder: string, { limit, offset }: ListQuery): Promise<Page> {
  const last = (await records(folder, 1))[0]?.seq ?? 0;
  const count = last === 0 ? 0 : Math.min(WINDOW, last - (await oldestSeq(folder)) + 1);
  const end = Math.min(count, offset + limit);
  const rows = end > offset ? (await records(folder, end)).slice(offset).map(rowOf) : [];
  return { rows, count, filtered: count };
}

/** At most `limit` records, the newest, newest first. */
async function records(folder: string, limit: number): Promise<AuditRecord[]> {
  const matches: AuditRecord[] = [];
  for await (const line of newestLines(folder)) {
    const record = parseRecord(line);
    if (record !== null && matches.push(record) >= limit) break;
  }
  return matches;
}

async function oldestSeq(folder: string): Promise<number> {
  for (const name of await auditFiles(folder)) {
    for await (const { text } of linesOf(join(folder, name))) {
      const record = parseRecord(text);
      if (record !== null) return record.seq;
    }
  }
  return 1;
}

function rowOf({ prev: _, ...record }: AuditRecord): Row {
  return { id: String(record.seq), ...record };
}
