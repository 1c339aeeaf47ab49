import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { startHttpReceiver } from '../../../test/support/servers/http-receiver.ts';
import { startSmtpServer } from '../../../test/support/servers/smtp-server.ts';
import { buildEvent } from '../../events/types/own-event.ts';
import type { OpenAlert } from '../schema.ts';
import { openSender, type SenderInput } from './open.ts';

const event = buildEvent(
  'providers',
  'provider.down',
  {
    subject: 'con_1',
    data: {
      connection_id: 'con_1',
      connection: '<b>work</b> & home',
      provider: 'openai',
      model: null,
      reason: 'unreachable',
      until: null,
    },
  },
  { at: Date.UTC(2026, 10, 22), instance: 'here' },
);

const alertTo = (target: OpenAlert['target'], more: Partial<OpenAlert> = {}): OpenAlert => ({
  id: 'alt_1',
  name: 'test',
  kind: target?.kind ?? 'webhook',
  target,
  secret: null,
  on: ['*'],
  where: null,
  digestMs: 0,
  paused: false,
  byApi: false,
  createdAt: 0,
  updatedAt: 0,
  activeSince: 0,
  ...more,
});

function sender(test: TestContext, alert: OpenAlert, input: Partial<SenderInput> = {}) {
  const opened = openSender(alert, {
    dataDir: temporaryFolder(test),
    smtp: null,
    listening: () => null,
    privateNetworks: false,
    path: undefined,
    now: Date.now,
    ...input,
  });
  test.after(() => opened.close());
  return opened;
}

async function receiverOf(test: TestContext) {
  const receiver = await startHttpReceiver();
  test.after(() => receiver.close());
  return receiver;
}

describe('an alert', () => {
  it('is a text in Slack, with what Slack would read as markup escaped', async (test) => {
    const receiver = await receiverOf(test);
    receiver.answer(() => ({ status: 200, body: 'ok' }));
    const { answer, outcome } = await sender(
      test,
      alertTo({ kind: 'slack', url: `${receiver.url}/services/secret` }),
    ).send(event);
    assert.deepEqual([outcome.kind, answer], ['done', '200 ok']);
    const { text } = JSON.parse(receiver.received[0]?.body ?? '');
    assert.match(text, /^\*&lt;b&gt;work&lt;\/b&gt; &amp; home is down: unreachable\*\n/);
  });

  it('is the event itself for a webhook, signed with its own secret', async (test) => {
    const receiver = await receiverOf(test);
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    const alert = alertTo({ kind: 'webhook', url: `${receiver.url}/hook` }, { secret });
    assert.equal((await sender(test, alert).send(event)).outcome.kind, 'done');
    const { body, headers } = receiver.received[0] ?? assert.fail();
    assert.equal(headers['ce-type'], 'io.modelgate.provider.down.v1');
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  });

  it('reaches private networks only where the machine’s owner set it up, or allows it', async (test) => {
    const receiver = await receiverOf(test);
    for (const kind of ['slack', 'webhook'] as const) {
      const alert = alertTo({ kind, url: receiver.url }, { byApi: true });
      assert.equal((await sender(test, alert).send(event)).outcome.kind, 'failed');
      assert.equal(receiver.received.length, 0);
      const allowed = sender(test, alert, { privateNetworks: true });
      assert.equal((await allowed.send(event)).outcome.kind, 'done');
      assert.equal(receiver.received.splice(0).length, 1);
    }
  });

  it('is a mail as text and as HTML, the same message at every attempt', async (test) => {
    const server = await startSmtpServer();
    test.after(() => server.close());
    const smtp = { url: `smtp://me:pass%20word@127.0.0.1:${server.port}`, from: 'gw@example.com' };
    const alert = alertTo({ kind: 'email', to: ['a@example.com', 'b@example.com'] });
    const mail = sender(test, alert, { smtp });
    const { answer, outcome } = await mail.send(event);
    assert.deepEqual([outcome.kind, answer], ['done', '250 taken as 1']);
    await mail.send(event);
    assert.equal(server.logins[0], 'me:pass word');
    const [first, second] = server.mails;
    assert.deepEqual([first?.from, first?.to], ['gw@example.com', ['a@example.com', 'b@example.com']]);
    const text = first?.text ?? '';
    assert.match(text, /^Subject: \[Modelgate\] /m);
    assert.match(text, /&lt;b&gt;work/);
    assert.match(text, /^Auto-Submitted: auto-generated/m);
    const idOf = (mailText = '') => /^Message-ID: (.*)$/m.exec(mailText)?.[1];
    assert.equal(idOf(text), idOf(second?.text));
  });

  it('distinguishes a permanent refusal of a mail server from a temporary one', async (test) => {
    const server = await startSmtpServer();
    test.after(() => server.close());
    const alert = alertTo({ kind: 'email', to: ['a@example.com'] });
    const smtp = { url: `smtp://127.0.0.1:${server.port}`, from: 'gw@example.com' };
    const mail = sender(test, alert, { smtp });
    server.refuse('550 no such mailbox');
    assert.deepEqual((await mail.send(event)).outcome, {
      kind: 'failed',
      reason: 'The mail server answered with the status 550',
      status: 550,
    });
    server.refuse('451 later');
    assert.equal((await mail.send(event)).outcome.kind, 'retry');
    await server.close();
    assert.equal((await mail.send(event)).outcome.kind, 'retry');
    assert.equal((await sender(test, alert).send(event)).outcome.kind, 'failed');
  });

  it('is JSON on the standard input of a program, which gets no environment but the path', async (test) => {
    const folder = temporaryFolder(test);
    const script = join(folder, 'page.mjs');
    writeFileSync(
      script,
      `import { writeFileSync } from 'node:fs';
       let text = '';
       for await (const chunk of process.stdin) text += chunk;
       writeFileSync('got.json', JSON.stringify({ event: JSON.parse(text), args: process.argv.slice(2), env: process.env }));
       console.log('paged');`,
    );
    const target = { kind: 'command', file: process.execPath, args: [script, 'a b; rm -rf x'] } as const;
    const page = sender(test, alertTo({ ...target, args: [...target.args] }), {
      dataDir: folder,
      path: '/bin',
    });
    assert.deepEqual(await page.send(event), { outcome: { kind: 'done' }, answer: 'Status 0: paged' });
    const { readFileSync } = await import('node:fs');
    const got = JSON.parse(readFileSync(join(folder, 'got.json'), 'utf8'));
    assert.equal(got.event.type, 'io.modelgate.provider.down.v1');
    assert.deepEqual(got.args, ['a b; rm -rf x']);
    assert.deepEqual(
      Object.keys(got.env).filter((name) => name !== '__CF_USER_TEXT_ENCODING'),
      ['PATH'],
    );
  });

  it('tries a program again that fails or does not exist', async (test) => {
    const failing = alertTo({ kind: 'command', file: process.execPath, args: ['-e', 'process.exit(3)'] });
    assert.match((await sender(test, failing).send(event)).answer, /the status 3/);
    const missing = alertTo({ kind: 'command', file: '/no/such/program', args: [] });
    const { answer, outcome } = await sender(test, missing).send(event);
    assert.deepEqual([outcome.kind, answer], ['retry', 'The program failed: ENOENT']);
  });

  it('waits for its storage key where its target cannot be decrypted', async (test) => {
    assert.equal((await sender(test, alertTo(null)).send(event)).outcome.kind, 'retry');
  });
});
