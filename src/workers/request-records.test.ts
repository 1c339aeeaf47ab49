import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { stub } from '../../test/support/machine/stub.ts';
import { madeEntry } from '../../test/support/store/ledger.ts';
import { ledgerRow } from '../ledger/record.ts';
import { createLineLog, createLog } from '../lib/log.ts';
import type { Value } from '../store/database.ts';
import type { FinishedRequestDetails, WorkerEvent } from './message.ts';
import { type OwnerInput, openOwner } from './owner.ts';
import { createRequestRecords, type EndedRequest } from './request-records.ts';
import { sizeOf } from './size.ts';

const ended = (id: string, more: Partial<EndedRequest> = {}): EndedRequest => ({
  entry: madeEntry({ id }),
  traceText: null,
  traceparent: null,
  span: null,
  ...more,
});

/** The records of a worker, and what it tells. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: WorkerEvent[] = [];
  const toldUnlessFull: WorkerEvent[] = [];
  const state = { isOnDisk: true, isFull: false, left: 0 };
  const journal: string[] = [];
  const records = createRequestRecords({
    tell(event) {
      if (!state.isFull) told.push(event);
      return !state.isFull;
    },
    tellUnlessFull: (event) => toldUnlessFull.push(event) > 0,
    journal: {
      append(row) {
        if (state.isOnDisk) journal.push(row);
        return state.isOnDisk;
      },
    },
    leftInJournal() {
      state.left += 1;
    },
  });
  return { journal, records, state, told, toldUnlessFull };
}

/** The ids of the requests of events, in their order. */
const idsIn = (events: readonly WorkerEvent[]) =>
  events.map((event) => {
    assert.ok(event.kind === 'finished');
    return (JSON.parse(event.finished.rows) as Value[][]).map(([id]) => id);
  });

describe('the records that a worker sends of its requests', () => {
  it('are collected for 50 milliseconds, after they were written to the journal', (t) => {
    const { journal, records, told } = open(t);
    records.add(ended('a'));
    records.add(ended('b'));
    records.accessLine('one\n');
    records.accessLine('two\n');
    assert.deepEqual([journal.length, told.length], [2, 0]);
    t.mock.timers.tick(50);
    assert.deepEqual(idsIn(told.slice(0, 1)), [['a', 'b']]);
    assert.deepEqual(told[1], { kind: 'access-logged', lines: 'one\ntwo\n', count: 2 });
    records.add(ended('c'));
    t.mock.timers.tick(50);
    assert.deepEqual(idsIn(told.slice(2)), [['c']]);
    records.flush();
    assert.equal(told.length, 3);
  });

  it('are sent at once if there are many', (t) => {
    const { records, told } = open(t);
    let count = 0;
    for (; told.length === 0; count += 1) records.add(ended(`req_${count}`));
    const [event] = told;
    assert.ok(event !== undefined && sizeOf(event) >= 65_536 && sizeOf(event) < 70_000, `${count} requests`);
  });

  it('say which rows are only in the journal, and which are nowhere else', (t) => {
    const { records, state, told, toldUnlessFull } = open(t);
    records.add(ended('a'));
    state.isOnDisk = false;
    records.add(ended('b'));
    records.add(ended('c'));
    state.isOnDisk = true;
    records.add(ended('d'));
    state.isFull = true;
    records.flush();
    assert.deepEqual([idsIn(told), idsIn(toldUnlessFull), state.left], [[['a']], [['b', 'c']], 1]);
  });

  it('arrive with each request unchanged', (t) => {
    const { records, told } = open(t);
    const span = { trace: null, method: 'POST', path: '/v1/messages', keyName: 'test' };
    records.add(ended('a'));
    records.add(ended('b', { traceText: '{"via":[]}', traceparent: '00-1-2-01' }));
    records.add(ended('c', { span }));
    records.add(ended('d'));
    records.flush();
    const found: (readonly [readonly Value[], FinishedRequestDetails | null])[] = [];
    const onFinished: OwnerInput['onFinished'] = (row, details) => found.push([row, details]);
    const lines: string[] = [];
    const owner = openOwner(
      stub<OwnerInput>({
        onFinished,
        log: createLog({ level: 'error', pretty: false, write() {} }),
        accessLog: createLineLog({ level: 'info', pretty: false, write: (line) => lines.push(line) }),
      }),
      { joined: () => [], isRunning: () => true, flush: async () => {} },
    );
    const member = { hasReported: false } as Parameters<typeof owner.hear>[0];
    for (const event of told) owner.hear(member, structuredClone(event));
    assert.deepEqual(found, [
      [ledgerRow(madeEntry({ id: 'a' })), null],
      [
        ledgerRow(madeEntry({ id: 'b' })),
        { index: 1, id: 'b', traceText: '{"via":[]}', traceparent: '00-1-2-01', span: null },
      ],
      [ledgerRow(madeEntry({ id: 'c' })), { index: 2, id: 'c', traceText: null, traceparent: null, span }],
      [ledgerRow(madeEntry({ id: 'd' })), null],
    ]);
    owner.hear(member, { kind: 'access-logged', lines: 'one\ntwo\n', count: 2 });
    assert.deepEqual(lines, ['one\ntwo\n']);
  });
});
