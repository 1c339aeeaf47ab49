import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type Context, createContext } from '../../src/cli/context.ts';
import { runWizard } from '../../src/cli/setup/wizard.ts';
import type { Io, Questions } from '../../src/cli/terminal/io.ts';
import { createUpstream, type Upstream, upstreamKey } from './upstream.ts';

type Answer = string | boolean | string[] | null;

interface Told {
  io: Io;
  /** Questions in the order in which they were asked. */
  asked: string[];
  notes: string[];
  documents: Record<string, unknown>[];
}

/**
 * A person who answers by the start of the question, and wants no tool of this machine set up unless they say so.
 * Secrets are checked as the terminal would.
 */
function person(answers: readonly (readonly [string, Answer])[]): Told {
  const asked: string[] = [];
  const notes: string[] = [];
  const documents: Record<string, unknown>[] = [];
  const noTool: readonly [string, Answer] = ['Installed here', []];
  const left = [...answers, noTool];
  const next = <T extends Answer>(question: string, fits: (answer: Answer) => answer is T): T | null => {
    asked.push(question);
    const index = left.findIndex(([start]) => question.startsWith(start));
    const [, answer] = left.splice(index, 1)[0] ?? [];
    if (index === -1 || answer === undefined) throw new Error(`nobody expected: ${question}`);
    if (answer !== null && !fits(answer)) throw new Error(`not an answer to: ${question}`);
    return answer;
  };
  const isText = (answer: Answer): answer is string => typeof answer === 'string';
  const isBoolean = (answer: Answer): answer is boolean => typeof answer === 'boolean';
  const checked: Questions['secret'] = async (question, { check } = {}) => {
    const answer = next(question, isText);
    assert.equal(answer === null ? undefined : check?.(answer), undefined);
    return answer;
  };
  const io: Io = {
    json: true,
    interactive: true,
    terminal: true,
    result: (document) => documents.push({ ...document }),
    record: () => assert.fail('the wizard prints one document'),
    note: (text) => notes.push(text),
    paint: (_, text) => text,
    table: () => '',
    readStdin: async () => '',
    flush: async () => {},
    ask: {
      text: checked,
      secret: checked,
      confirm: async (question) => next(question, isBoolean),
      choose: async (question) => next(question, isText),
      chooseMany: async (question) => next(question, (answer) => Array.isArray(answer)),
    },
  };
  return { io, asked, notes, documents };
}

describe('the wizard of setup', () => {
  let upstream: Upstream;
  let dataDir: string;
  let contexts: Context[] = [];
  before(async () => {
    upstream = await createUpstream();
  });
  after(() => upstream.close());
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'modelgate-wizard-'));
  });
  afterEach(async () => {
    for (const context of contexts) await context.close();
    contexts = [];
    await rm(dataDir, { recursive: true, force: true });
  });

  /** `found`: variables that count as set, so that the machine of the test does not decide what is offered. */
  const open = (io: Io, found: Readonly<Record<string, string>> = {}): Context => {
    const context: Context = {
      ...createContext({ io, flags: { dataDir } }),
      variable: async (name) => found[name],
      variables: async () => ({ HOME: dataDir, USERPROFILE: dataDir, PATH: join(dataDir, 'bin') }),
      setVariables: async (names) => names.filter((name) => name in found),
    };
    contexts.push(context);
    return context;
  };

  it('sets a password, connects a provider, makes a key and says what is next', async () => {
    const { io, documents, notes } = person([
      ['Admin password', 'correct horse'],
      ['The same password', 'correct horse'],
      ['Connect a provider', true],
      ['Which provider', 'openai-compatible'],
      ['Name of the connection', 'mine'],
      ['Base URL', upstream.url],
      ['Key for', upstreamKey],
      ['Connect a provider', false],
      ['Make a gateway key', true],
      ['Name of the key', 'laptop'],
    ]);
    assert.equal(await runWizard(open(io)), 0);
    const [document] = documents as {
      key: { key: string; name: string };
      connections: object[];
      next: string[];
    }[];
    assert.match(document?.key.key ?? '', /^sk-/);
    assert.equal(document?.key.name, 'laptop');
    assert.equal(document?.connections.length, 1);
    assert.deepEqual(document?.next[0], 'gateway serve');
    assert.ok(notes.some((note) => note.startsWith('mine: ok in')));
    assert.equal(JSON.stringify([documents, notes]).includes(upstreamKey), false);
  });

  it('lets the user fix a failed test, and says that the connection is kept', async () => {
    const { io, asked, documents, notes } = person([
      ['Admin password', ''],
      ['Connect a provider', true],
      ['Which provider', 'openai-compatible'],
      ['Name of the connection', 'mine'],
      ['Base URL', upstream.url],
      ['Key for', 'sk-mistyped-12345'],
      ['The connection "mine" is kept', 'again'],
      ['The connection "mine" is kept', 'key'],
      ['Key for', upstreamKey],
      ['Connect a provider', false],
      ['Make a gateway key', false],
    ]);
    assert.equal(await runWizard(open(io)), 0);
    assert.equal(notes.filter((note) => note.startsWith('mine: failed')).length, 2);
    assert.ok(notes.some((note) => note.startsWith('mine: ok in')));
    assert.ok(notes.some((note) => /^Keys of OpenAI-compatible server are made at \S+/.test(note)));
    assert.equal(asked.filter((question) => question.startsWith('The connection')).length, 2);
    const { connections } = documents[0] as { connections: { status: string }[] };
    assert.deepEqual(
      connections.map(({ status }) => status),
      ['ok'],
    );
  });

  it('removes a connection whose test failed on request', async () => {
    const { io, documents } = person([
      ['Admin password', ''],
      ['Connect a provider', true],
      ['Which provider', 'openai-compatible'],
      ['Name of the connection', 'mine'],
      ['Base URL', upstream.url],
      ['Key for', 'sk-mistyped-12345'],
      ['The connection "mine" is kept', 'remove'],
      ['Connect a provider', false],
      ['Make a gateway key', false],
    ]);
    await runWizard(open(io));
    assert.deepEqual(documents[0]?.['connections'], []);
  });

  it('connects what it found only when it is chosen', async () => {
    const found = { DEEPSEEK_API_KEY: 'sk-found-0123456789' };
    const refused = person([
      ['Admin password', ''],
      ['Found on this machine', []],
      ['Connect a provider', false],
      ['Make a gateway key', false],
    ]);
    await runWizard(open(refused.io, found));
    assert.deepEqual(refused.documents[0]?.['connections'], []);
    assert.equal(refused.documents[0]?.['password_set'], false);
    assert.equal(refused.documents[0]?.['key'], null);
  });

  it('offers to point the tools that are installed at the gateway', async () => {
    await mkdir(join(dataDir, 'bin'));
    for (const name of ['claude', 'codex'])
      await writeFile(join(dataDir, 'bin', name), '#!/bin/sh\n', { mode: 0o755 });
    const told = person([
      ['Admin password', ''],
      ['Connect a provider', false],
      ['Make a gateway key', true],
      ['Name of the key', 'laptop'],
      ['Installed here: Claude Code, OpenAI Codex CLI', ['claude']],
    ]);
    await runWizard(open(told.io));
    const notes = told.notes.join('\n');
    assert.match(notes, /Claude Code points at http:\S+ now: .*`gateway tools restore claude` undoes it/);
    assert.match(notes, /For later: `gateway setup-codex`/);
    const { key, next } = told.documents[0] as { key: { key: string }; next: string[] };
    assert.ok(next.includes('gateway setup-codex'));
    const written = await readFile(join(dataDir, '.claude/settings.json'), 'utf8');
    assert.ok(written.includes(key.key));
    assert.equal(notes.includes(key.key), false);

    const again = person([
      ['Admin password', ''],
      ['Connect a provider', false],
      ['Make another gateway key', false],
      ['Installed here: OpenAI Codex CLI', null],
    ]);
    await runWizard(open(again.io));
    assert.match(again.notes.join('\n'), /For later: `gateway setup-codex`/);
  });

  it('can be left at any question; what was entered before is kept', async () => {
    const left = person([
      ['Admin password', 'correct horse'],
      ['The same password', 'correct horse'],
      ['Connect a provider', null],
    ]);
    await assert.rejects(runWizard(open(left.io)), { exit: 1, code: 'cancelled' });
    const again = person([['An admin password exists', null]]);
    await assert.rejects(runWizard(open(again.io)), { code: 'cancelled' });
  });
});
