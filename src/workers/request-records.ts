import { ledgerRow } from '../ledger/record.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { BoundedTell } from './bounded-tell.ts';
import type { FinishedRequestDetails, RequestSpan } from './message.ts';

/** What a worker tells its owner of each request, gathered: a message for each would cost more than all that is in it. */
export interface RequestRecords {
  /** Notes a request that is over, and writes its row to the journal before it returns. */
  add(request: EndedRequest): void;
  /** Notes a line of the access log, with its line feed. */
  accessLine(line: string): void;
  /** Tells what is gathered. */
  flush(): void;
}

/** A request that is over. */
export interface EndedRequest {
  entry: LedgerEntry;
  /** As it is stored; null where nothing is kept of it. */
  traceText: string | null;
  /** What the client sent, as it came. */
  traceparent: string | null;
  /** Null where nothing is sent by OTLP. */
  span: RequestSpan | null;
}

export interface RequestRecordsInput extends Pick<BoundedTell, 'tell' | 'tellUnlessFull'> {
  journal: {
    /** @returns whether the row is on the disk */
    append(row: string): boolean;
  };
  /** Called when rows that are on the disk were not told, because too much waits. */
  leftInJournal(): void;
}

/** For how long records wait for more. */
const GATHER_MS = 50;
/** Characters that wait at most. */
const MAX_LENGTH = 65_536;

export function createRequestRecords(input: RequestRecordsInput): RequestRecords {
  let rows: string[] = [];
  let details: FinishedRequestDetails[] = [];
  /** Whether all rows that wait are in the journal, or none of them. */
  let areOnDisk = true;
  let lines = '';
  let lineCount = 0;
  let length = 0;
  let timer: NodeJS.Timeout | null = null;

  const tellFinished = (): void => {
    if (rows.length === 0) return;
    const finished = { rows: `[${rows.join()}]`, count: rows.length, details };
    rows = [];
    details = [];
    const tell = areOnDisk ? input.tell : input.tellUnlessFull;
    const isTold = tell({ kind: 'finished', finished });
    if (areOnDisk && !isTold) input.leftInJournal();
  };
  const tellLines = (): void => {
    if (lineCount === 0) return;
    const event = { kind: 'access-logged', lines, count: lineCount } as const;
    lines = '';
    lineCount = 0;
    input.tell(event);
  };
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    length = 0;
    tellFinished();
    tellLines();
  };
  const added = (characters: number): void => {
    length += characters;
    if (length >= MAX_LENGTH) flush();
    else timer ??= setTimeout(flush, GATHER_MS);
  };

  return {
    add({ entry, span, traceText, traceparent }) {
      const row = JSON.stringify(ledgerRow(entry));
      const isOnDisk = input.journal.append(row);
      if (isOnDisk !== areOnDisk) tellFinished();
      areOnDisk = isOnDisk;
      if (traceText !== null || traceparent !== null || span !== null)
        details.push({ index: rows.length, id: entry.id, traceText, traceparent, span });
      rows.push(row);
      added(row.length + (traceText?.length ?? 0));
    },
    accessLine(line) {
      lines += line;
      lineCount += 1;
      added(line.length);
    },
    flush,
  };
}
