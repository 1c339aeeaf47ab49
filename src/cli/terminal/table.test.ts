import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { allProviders } from '../../providers/index.ts';
import { providersAvailableCommand } from '../commands/providers/available.ts';
import { createIo } from './io.ts';
import { type Column, table } from './table.ts';

interface Row {
  id: string;
  text: string;
  count: number;
}

const columns: Column<Row>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'COUNT', cell: ({ count }) => String(count), align: 'right', style: () => 'red' },
  { title: 'TEXT', cell: ({ text }) => text },
];
const rows = [
  { id: 'first', count: 7, text: 'one two three four' },
  { id: 'second', count: 12, text: '' },
];
const drawn = (width: number | null, more: Partial<Column<Row>> = {}) =>
  table(
    columns.map((column) => (column.title === 'TEXT' ? { ...column, ...more } : column)),
    rows,
    { width, paint: (style, text) => (style === 'red' ? `<${text}>` : text) },
  ).split('\n');

describe('a table', () => {
  it('has a line for each row where there is room, and no terminal', () => {
    const lines = ['ID      COUNT  TEXT', 'first   <    7>  one two three four', 'second  <   12>'];
    assert.deepEqual(drawn(null), lines);
    assert.deepEqual(drawn(33), lines);
  });

  it('wraps cells at blanks where the terminal is narrower', () => {
    assert.deepEqual(drawn(26), [
      'ID      COUNT  TEXT',
      'first   <    7>  one two',
      '        <     >  three four',
      'second  <   12>',
    ]);
  });

  it('leaves out optional columns, and prints rows by themselves where no column can be left out', () => {
    assert.deepEqual(drawn(26, { optional: true }), [
      'ID      COUNT',
      'first   <    7>',
      'second  <   12>',
      'Not shown, for the',
      'terminal is too narrow:',
      'TEXT. --json has all.',
    ]);
    assert.deepEqual(drawn(19), [
      'first',
      '  COUNT  <7>',
      '  TEXT   one two',
      '         three four',
      'second',
      '  COUNT  <12>',
    ]);
  });

  for (const width of [60, 80, 120])
    it(`of all providers fits ${width} columns, and names each`, async () => {
      const stdout = Object.assign(new PassThrough(), {
        isTTY: true,
        columns: width,
        hasColors: () => false,
      });
      const stderr = new PassThrough();
      const io = createIo({
        json: false,
        nonInteractive: true,
        readsKeys: false,
        stdin: new PassThrough(),
        stdout,
        stderr,
        onBrokenPipe: () => {},
      });
      const options = { text: () => undefined } as never;
      await providersAvailableCommand.run(options, { io } as never, {} as never);
      const lines = String(stdout.read()).split('\n');
      assert.deepEqual(
        lines.filter((line) => line.length > width),
        [],
      );
      const text = lines.join('\n');
      for (const { id } of allProviders()) assert.match(text, new RegExp(`^${id}\\b`, 'm'));
    });
});
