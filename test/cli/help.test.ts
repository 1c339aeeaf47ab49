import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groups } from '../../src/cli/commands/groups.ts';
import { commandList } from '../../src/cli/commands/index.ts';
import { runHere } from './run.ts';

const help = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runHere([...words, '--help']);
  assert.deepEqual([code, stderr], [0, ''], words.join(' '));
  return stdout;
};

describe('the help of the program', () => {
  for (const words of [[], ['keys'], ['keys', 'add'], ['doctor']]) {
    it(`is as written down for \`${['gateway', ...words].join(' ')}\``, async (t) => {
      t.assert.snapshot(await help(...words), { serializers: [String] });
    });
  }

  it('shows summary, arguments, flags and examples of every command', async () => {
    for (const { name, summary, load } of commandList) {
      const text = await help(...name.split(' '));
      const command = await load();
      assert.ok(text.includes(summary), name);
      for (const argument of command.arguments)
        assert.ok(text.includes(argument.name), `${name} ${argument.name}`);
      for (const flag of command.flags) {
        assert.ok(text.includes(`--${flag.name}`), `${name} --${flag.name}`);
      }
      assert.ok(command.examples.length > 0, `${name} has no example`);
      for (const example of command.examples)
        assert.ok(text.includes(example.command), `${name}: ${example.command}`);
    }
  });

  it('comes by `help`, `help COMMAND` and -h too', async () => {
    const long = await help('keys', 'add');
    assert.equal((await runHere(['help', 'keys', 'add'])).stdout, long);
    assert.equal((await runHere(['keys', 'add', '-h'])).stdout, long);
    assert.equal((await runHere(['help'])).stdout, await help());
  });

  it('is printed on stderr with exit 2 for a group without a command', async () => {
    for (const group of Object.keys(groups)) {
      const { code, stdout, stderr } = await runHere([group]);
      assert.deepEqual([code, stdout], [2, ''], group);
      assert.match(stderr, /Usage: gateway/);
    }
  });
});
