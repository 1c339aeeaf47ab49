import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLineLog, createLog, type LogOptions } from './log.ts';

/** What both logs write of the same, without the time. */
function written(options: Pick<LogOptions, 'level' | 'pretty'>, id: string): { pino: string; lines: string } {
  const outputs = [createLog, createLineLog].map((create) => {
    let output = '';
    const log = create({ ...options, write: (line) => (output += line) });
    if ('isOn' in log) {
      log.write('info', { id, status: 200, key: undefined, msg: 'request' });
      log.write('debug', { id: 'probe', msg: 'request' });
    } else {
      log.info({ id, status: 200 }, 'request');
      log.debug({ id: 'probe' }, 'request');
    }
    return output.replaceAll(/"time":"[^"]*"|^[\d:]{8}/gm, '');
  });
  return { pino: outputs[0] ?? '', lines: outputs[1] ?? '' };
}

describe('lines of the log that their writer made', () => {
  it('are those that pino writes, at every level, for people and for programs', () => {
    const texts = ['req_1', '', 'a"b\\c', 'line\nfeed\0', 'ü€😀', '\x7f\u2028'];
    for (const level of ['debug', 'info', 'warn', 'silent'] as const)
      for (const pretty of [false, true])
        for (const text of texts) {
          const { lines, pino } = written({ level, pretty }, text);
          assert.equal(lines, pino, JSON.stringify([level, pretty, text]));
        }
  });

  it('go to those who watch as JSON', () => {
    const seen: unknown[] = [];
    const log = createLineLog({
      level: 'info',
      pretty: true,
      write: () => {},
      tee: (line) => seen.push(JSON.parse(line)),
    });
    log.write('info', { id: 'req_1', msg: 'request' });
    assert.deepEqual(
      seen.map((line) => Object.keys(line as object)),
      [['level', 'time', 'id', 'msg']],
    );
  });

  it('of another process are written together, and shown one by one', () => {
    const lines = '{"level":"info","msg":"one"}\n{"level":"info","msg":"two"}\n';
    for (const pretty of [false, true]) {
      const [written, seen]: string[][] = [[], []];
      createLineLog({
        level: 'info',
        pretty,
        write: (text) => written?.push(text),
        tee: (line) => seen?.push(JSON.parse(line).msg),
      }).relay(lines);
      assert.deepEqual(seen, ['one', 'two']);
      if (pretty) assert.deepEqual(written?.length, 2);
      else assert.deepEqual(written, [lines]);
    }
  });
});
