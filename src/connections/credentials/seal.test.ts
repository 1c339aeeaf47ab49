import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { runScript } from '../../../test/support/machine/process.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { open, seal, storageKey } from './seal.ts';

const key = randomBytes(32);
const mode = (path: string) => statSync(path).mode & 0o777;
/** What UTF-8 can carry, which is what a text is. */
const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('an encrypted text', () => {
  it('decrypts to the original, with the same key and context', () => {
    fc.assert(
      fc.property(anyKey, text, text, (anyOf, plain, context) => {
        assert.equal(open(anyOf, seal(anyOf, plain, context), context), plain);
      }),
    );
  });

  it('is different each time and reveals nothing of the text', () => {
    const secret = 'sk-0123456789';
    const sealed = seal(key, secret, 'con_1');
    assert.notEqual(sealed, seal(key, secret, 'con_1'));
    assert.doesNotMatch(sealed, /0123456789/);
    assert.equal(Buffer.from(sealed.slice(3), 'base64url').includes(secret), false);
  });

  it('does not decrypt with another key or for another context', () => {
    fc.assert(
      fc.property(anyKey, text, text, text, (other, plain, context, elsewhere) => {
        fc.pre(context !== elsewhere && !other.equals(key));
        const sealed = seal(key, plain, context);
        assert.equal(open(other, sealed, context), null);
        assert.equal(open(key, sealed, elsewhere), null);
      }),
    );
  });

  it('does not decrypt when any byte is changed', () => {
    fc.assert(
      fc.property(text, (plain) => {
        const sealed = seal(key, plain, 'con_1');
        const bytes = Buffer.from(sealed.slice(3), 'base64url');
        for (let at = 0; at < bytes.length; at += 1) {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
          assert.equal(open(key, `v1.${changed.toString('base64url')}`, 'con_1'), null, `byte ${at}`);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('has one spelling: no character can be changed, added or taken away', () => {
    fc.assert(
      fc.property(
        text,
        fc.nat(),
        fc.constantFrom(...base64url, '.', '=', ' ', '\n', 'é'),
        (plain, number, char) => {
          const sealed = seal(key, plain, 'con_1');
          const at = number % sealed.length;
          const rest = sealed.slice(at + 1);
          const before = sealed.slice(0, at);
          if (sealed[at] !== char) assert.equal(open(key, before + char + rest, 'con_1'), null, 'changed');
          assert.equal(open(key, before + rest, 'con_1'), null, 'taken away');
          assert.equal(open(key, sealed + char, 'con_1'), null, 'added');
        },
      ),
      { numRuns: 500 },
    );
    for (const last of base64url) {
      const sealed = seal(key, 'x', 'con_1');
      if (!sealed.endsWith(last)) assert.equal(open(key, sealed.slice(0, -1) + last, 'con_1'), null, last);
    }
  });

  it('does not decrypt from any other text', () => {
    fc.assert(fc.property(fc.string(), (junk) => assert.equal(open(key, junk, ''), null)));
    for (const junk of ['', 'v1', 'v1.', 'v1.AAAA', 'v2.AAAA']) assert.equal(open(key, junk, ''), null);
  });
});

describe('the storage key', () => {
  it('is created once, in a file and folder that only the owner can read', async (test) => {
    const dataDir = join(temporaryFolder(test), 'data');
    const made = await storageKey(dataDir, null);
    assert.equal(made.source, 'generated');
    assert.deepEqual([mode(dataDir), mode(join(dataDir, 'storage.key'))], [0o700, 0o600]);
    const file = readFileSync(join(dataDir, 'storage.key'), 'utf8');
    assert.ok(Buffer.from(file.trim(), 'base64url').length >= 32);
    const again = await storageKey(dataDir, null);
    assert.deepEqual([again.source, again.key.equals(made.key)], ['file', true]);
    assert.equal(readFileSync(join(dataDir, 'storage.key'), 'utf8'), file);
    assert.deepEqual(readdirSync(dataDir), ['storage.key'], 'nothing else is left behind');
  });

  it('comes from the environment if set there, without a file', async (test) => {
    const dataDir = temporaryFolder(test);
    const one = await storageKey(dataDir, 'a secret');
    const other = await storageKey(dataDir, 'another secret');
    assert.deepEqual([one.source, one.key.length], ['environment', 32]);
    assert.equal(one.key.equals((await storageKey(dataDir, 'a secret')).key), true);
    assert.equal(one.key.equals(other.key), false);
    assert.equal(one.key.includes('a secret'), false, 'derived, not the secret itself');
    assert.deepEqual(readdirSync(dataDir), []);
  });

  it('is the same for several processes that create it at once', async (test) => {
    const dataDir = temporaryFolder(test);
    const scripts = [1, 2, 3].map(() =>
      runScript(
        test,
        import.meta.dirname,
        `const { storageKey } = await import('./seal.ts');
         say('ready');
         await go();
         const { key, source } = await storageKey(${JSON.stringify(dataDir)}, null);
         say(source + ' ' + key.toString('hex'));`,
      ),
    );
    for (const script of scripts) assert.equal(await script.line(), 'ready');
    for (const script of scripts) script.go();
    const lines = await Promise.all(scripts.map((script) => script.line()));
    await Promise.all(scripts.map((script) => script.ended()));
    assert.equal(new Set(lines.map((line) => line.split(' ')[1])).size, 1);
    assert.equal(lines.filter((line) => line.startsWith('generated')).length, 1);
  });

  it('is never replaced: an empty file is an error that says what to do', async (test) => {
    const dataDir = temporaryFolder(test);
    writeFileSync(join(dataDir, 'storage.key'), '\n');
    await assert.rejects(storageKey(dataDir, null), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.match(error.message, /storage\.key is empty: put the key back/);
      return true;
    });
    assert.equal(readFileSync(join(dataDir, 'storage.key'), 'utf8'), '\n');
  });
});
