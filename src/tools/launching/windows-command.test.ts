import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { windowsCommand } from './windows-command.ts';

const shim = 'C:\\Users\\me\\AppData\\Roaming\\npm\\claude.cmd';

/** Takes carets away as cmd.exe does outside of quotes: each lets the next character stand for itself. */
function read(line: string): string {
  return line.replace(/\^(.)/gs, '$1');
}

/** Takes a command line apart as Microsoft's C library does. */
function argumentsOf(line: string): string[] {
  const args: string[] = [];
  let current: string | null = null;
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
    if (slashes > 0 && line[at + slashes] === '"') {
      current = (current ?? '') + '\\'.repeat(Math.floor(slashes / 2));
      at += slashes - 1;
      if (slashes % 2 === 1) {
        current += '"';
        at += 1;
      }
    } else if (line[at] === '"') {
      quoted = !quoted;
      current ??= '';
    } else if (line[at] === ' ' && !quoted) {
      if (current !== null) args.push(current);
      current = null;
    } else current = (current ?? '') + line[at];
  }
  return current === null ? args : [...args, current];
}

describe('starting programs on Windows', () => {
  it('starts programs as they are', () => {
    assert.deepEqual(windowsCommand('C:\\bin\\codex.exe', ['a b', '"'], 'cmd.exe'), {
      file: 'C:\\bin\\codex.exe',
      args: ['a b', '"'],
      verbatim: false,
    });
  });

  it('hands every argument over to a file of cmd.exe as it is', () => {
    const argument = fc.string({ maxLength: 20, unit: fc.constantFrom(...'ab \\"^%&|<>()!;,*?[]`~=') });
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 5 }), (args) => {
        const command = windowsCommand(shim, args, 'C:\\Windows\\cmd.exe');
        assert.deepEqual([command.file, command.verbatim], ['C:\\Windows\\cmd.exe', true]);
        const [d, s, c, line = ''] = command.args;
        assert.deepEqual([d, s, c], ['/d', '/s', '/c']);
        // Once for the command line, once for the file's `%*`.
        const passed = read(line.slice(1, -1)).slice(shim.length);
        assert.deepEqual(argumentsOf(read(passed)), args);
        assert.equal(/(^|[^^])(\^\^)*[&|<>%]/.test(passed), false, 'nothing is left for cmd.exe to act on');
      }),
    );
  });

  it('refuses what cmd.exe cannot pass on', () => {
    assert.throws(() => windowsCommand(shim, ['a\nb'], 'cmd.exe'), { code: 'invalid_request' });
  });
});
