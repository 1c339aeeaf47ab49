import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';
import { chatAnswer, messagesAnswer, messagesStream } from '../../support/upstream/answers.ts';
import { geminiStream } from '../../support/upstream/answers-native.ts';
import { assertSigned } from '../../support/upstream/aws-verify.ts';
import { exceptionFrame, framesOf } from '../../support/upstream/event-frames.ts';
import { body, chunk, end, fin, head, json, type Step, stream } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

const aws = { id: 'AKIDTEST', secret: 'aws/secret+of/the+test', region: 'eu-west-3', service: 'bedrock' };
const awsDocument = {
  access_key_id: aws.id,
  secret_access_key: aws.secret,
  session_token: 'the-session-token',
  region: aws.region,
};
const model = 'eu.anthropic.claude-x-v1:0';
const question = { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const frameType = 'application/vnd.amazon.eventstream';

const started: { gateway?: RunningGateway; upstream?: Upstream; tokens?: Upstream } = {};
const upstream = () => started.upstream as Upstream;
const tokens = () => started.tokens as Upstream;
const gateway = () => started.gateway as RunningGateway;

/** A connection with a credential that is a document, or a key. */
async function connect(
  provider: string,
  name: string,
  credential: object | string,
  path = '',
): Promise<void> {
  const variable = `CREDENTIAL_${name.toUpperCase()}`;
  const text = typeof credential === 'string' ? credential : JSON.stringify(credential, null, 2);
  environment[variable] = text;
  connections.push([
    'provider',
    'add',
    provider,
    '--name',
    name,
    '--base-url',
    `${upstream().url}${path}`,
    '--api-key-env',
    variable,
    '--default-model',
    'm-1',
  ]);
}

const environment: Record<string, string> = {};
const connections: string[][] = [];

before(async () => {
  started.upstream = await startUpstream();
  started.tokens = await startUpstream();
  const serviceAccount = {
    type: 'service_account',
    project_id: 'a-project',
    private_key_id: 'key-7',
    private_key: privateKey,
    client_email: 'robot@a-project.iam.gserviceaccount.com',
    token_uri: `${tokens().url}/token`,
    client_id: '1',
  };
  const application = {
    tenant_id: 'a-tenant',
    client_id: 'an-app',
    client_secret: 'app-secret',
    token_url: `${tokens().url}/{tenant_id}/oauth2/v2.0/token`,
  };
  const location = '/v1/projects/a-project/locations/global';
  await connect('bedrock', 'aws', awsDocument);
  await connect('bedrock', 'awskey', 'bedrock-api-key');
  await connect('bedrock-openai', 'awschat', awsDocument);
  await connect('vertex', 'goog', serviceAccount, location);
  await connect('vertex-anthropic', 'googclaude', serviceAccount, location);
  await connect('azure-openai', 'entra', application);
  await connect('azure-openai', 'quoting', { ...application, client_id: 'another-app' });
  await connect('sap-ai-core', 'sap', {
    ...application,
    tenant_id: 'name.authentication.eu10.hana.ondemand.com',
    token_url: `${tokens().url}/oauth/token`,
  });
  await connect('azure-openai-deployments', 'azold', 'azure-key');
  await connect('azure-openai-deployments', 'aznew', 'azure-key', '?api-version=2025-04-01-preview');
  started.gateway = await startGateway({ env: environment });
  for (const line of connections) await gateway().cliJson(...line);
});

after(async () => {
  try {
    await started.gateway?.stop();
  } finally {
    await started.upstream?.close();
    await started.tokens?.close();
  }
});

const ask = (named: string, more: object = {}, headers: Record<string, string> = {}) =>
  gateway().ask('/v1/messages', { model: named, ...question, ...more }, headers);

/** The frames of a stream, as Bedrock sends them. */
function framed(bytes: Buffer, ...after: Step[]): Step[] {
  const headers = { 'content-type': frameType, 'transfer-encoding': 'chunked' };
  return [head(200, headers), chunk(bytes, [1, 2, 3, 40]), ...(after.length === 0 ? [end()] : after)];
}

describe('Bedrock', () => {
  it('gets signed requests with the model in the path, and its own members in the body', async () => {
    upstream().always(json(200, messagesAnswer()));
    const betas = {
      'anthropic-beta': 'interleaved-thinking-2025-05-14,not-known-there',
      'anthropic-version': '2023-06-01',
    };
    const reply = await ask(`aws/${model}`, { future: '12345678901234567890', stream: false }, betas);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.json()['type'], 'message');
    assert.equal(reply.header('x-gateway-dropped'), 'anthropic-beta:not-known-there');
    const [seen] = upstream().requests;
    assert.ok(seen);
    assert.equal(seen.path, `/model/${encodeURIComponent(model)}/invoke`);
    assert.equal(seen.header('x-amz-security-token'), 'the-session-token');
    for (const name of ['anthropic-version', 'anthropic-beta', 'x-api-key'])
      assert.equal(seen.header(name), undefined, name);
    await assertSigned(seen, aws);
    assert.deepEqual(JSON.parse((await seen.whole).toString()), {
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
      ...question,
      future: '12345678901234567890',
    });
  });

  it('gets prompt cache marks, like Vertex, for clients that cannot set them', async () => {
    upstream().always(json(200, messagesAnswer()));
    tokens().always(json(200, { access_token: 'a-token', expires_in: 3_600 }));
    for (const connection of ['aws', 'googclaude']) {
      const reply = await gateway().ask('/v1/chat/completions', {
        model: `${connection}/${model}`,
        messages: [
          { role: 'system', content: 'A long instruction. '.repeat(500) },
          { role: 'user', content: 'hi' },
        ],
        tools: [{ type: 'function', function: { name: 'read' } }],
      });
      assert.equal(reply.status, 200, reply.text);
    }
    for (const { body: bytes } of upstream().requests)
      assert.equal(bytes.toString().split('"cache_control":{"type":"ephemeral"}').length - 1, 3);
  });

  it('streams in frames, which clients get as the events they hold', async () => {
    const { text } = messagesStream();
    upstream().always(...framed(Buffer.concat(framesOf(text))));
    const reply = await ask(`aws/${model}`, { stream: true });
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.header('content-type') ?? '', /^text\/event-stream/);
    const data = (events: string) => [...events.matchAll(/^data: (.*)$/gm)].map(([, one]) => one);
    assert.deepEqual(data(reply.text).length, data(text).length);
    assert.match(reply.text, /event: message_stop/);
    const [seen] = upstream().requests;
    assert.ok(seen);
    assert.equal(seen.path, `/model/${encodeURIComponent(model)}/invoke-with-response-stream`);
    await assertSigned(seen, aws);
    assert.equal('stream' in JSON.parse((await seen.whole).toString()), false);
    const row = await gateway().entry(reply.header('x-request-id'));
    assert.deepEqual([row.outcome, row.streamed, row.usage?.['input']], ['ok', true, 12]);
  });

  it('answers clients of another format as well, and signs a large body', async () => {
    upstream().always(...framed(Buffer.concat(framesOf(messagesStream().text))));
    const content = 'x'.repeat(300_000);
    const body = { model: `aws/${model}`, stream: true, messages: [{ role: 'user', content }] };
    const reply = await gateway().ask('/v1/chat/completions', body);
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /\[DONE\]/);
    const [seen] = upstream().requests;
    assert.ok(seen);
    await assertSigned(seen, aws);
  });

  it('that breaks a frame has failed, and no raw byte of it is passed on', async () => {
    const frames = framesOf(messagesStream().text);
    const bad = Buffer.from(frames[0] ?? '');
    bad[bad.length - 1] = (bad[bad.length - 1] ?? 0) ^ 1;
    upstream().always(...framed(bad));
    const early = await ask(`aws/${model}`, { stream: true });
    assert.equal(early.status, 502, early.text);
    assert.match(early.text, /broken frame/);
    upstream().always(...framed(Buffer.concat([...frames.slice(0, 4), bad])));
    const late = await ask(`aws/${model}`, { stream: true });
    assert.equal(late.status, 200);
    assert.doesNotMatch(late.text, /message_stop|vnd\.amazon|chunk/);
    const row = await gateway().entry(late.header('x-request-id'));
    assert.deepEqual([row.outcome, row.error?.code], ['failed', 'upstream_protocol']);
  });

  it('that ends inside a stream is reported as such', async () => {
    const frames = framesOf(messagesStream().text);
    upstream().always(...framed(Buffer.concat(frames.slice(0, 4)), fin()));
    const cut = await ask(`aws/${model}`, { stream: true });
    assert.doesNotMatch(cut.text, /message_stop/);
    assert.equal((await gateway().entry(cut.header('x-request-id'))).outcome, 'failed');
    upstream().always(
      ...framed(Buffer.concat([...frames.slice(0, 4), exceptionFrame('throttlingException', 'too many')])),
    );
    const thrown = await ask(`aws/${model}`, { stream: true });
    assert.match(thrown.text, /rate_limit_error/);
    assert.equal((await gateway().entry(thrown.header('x-request-id'))).outcome, 'failed');
  });

  it('takes an API key of its own as a bearer token', async () => {
    upstream().always(json(200, messagesAnswer()));
    assert.equal((await ask(`awskey/${model}`)).status, 200);
    assert.equal(upstream().requests[0]?.header('authorization'), 'Bearer bedrock-api-key');
  });

  it('signs requests for its OpenAI-compatible endpoint', async () => {
    upstream().always(json(200, chatAnswer()));
    const reply = await gateway().ask('/v1/chat/completions', {
      model: 'awschat/openai.gpt-oss',
      ...question,
    });
    assert.equal(reply.status, 200, reply.text);
    const [seen] = upstream().requests;
    assert.ok(seen);
    assert.equal(seen.path, '/openai/v1/chat/completions');
    assert.equal(JSON.parse((await seen.whole).toString())['model'], 'openai.gpt-oss');
    await assertSigned(seen, aws);
  });

  it('is tested by one token of the default model, signed', async () => {
    upstream().always(json(200, messagesAnswer()));
    assert.equal((await gateway().cliJson('providers', 'test', 'aws'))['valid'], true);
    const [seen] = upstream().requests;
    assert.ok(seen);
    assert.equal(seen.path, '/model/m-1/invoke');
    await assertSigned(seen, aws);
  });
});

describe('Vertex', () => {
  const give = (token: string): Step =>
    json(200, { access_token: token, expires_in: 3600, token_type: 'Bearer' });

  it('gets a token for a statement that the service account signed, fetched once', async () => {
    tokens().always(give('google-1'));
    upstream().respond(() => [stream(geminiStream())]);
    const path = '/v1beta/models/goog/gemini-x:streamGenerateContent?alt=sse';
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const replies = await Promise.all([1, 2, 3].map(() => gateway().ask(path, { contents })));
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(tokens().requests.length, 1);
    const [asked] = tokens().requests;
    const form = new URLSearchParams((await asked?.whole)?.toString());
    assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const good = verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      pair.publicKey,
      Buffer.from(signature, 'base64url'),
    );
    assert.ok(good, 'the signature is the key’s');
    const read = (part: string) =>
      JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
    assert.deepEqual(read(header), { alg: 'RS256', typ: 'JWT', kid: 'key-7' });
    const { exp, iat, ...rest } = read(claims);
    assert.equal(Number(exp) - Number(iat), 3600);
    assert.deepEqual(rest, {
      iss: 'robot@a-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${tokens().url}/token`,
    });
    const [seen] = upstream().requests;
    const place = '/v1/projects/a-project/locations/global/publishers/google/models';
    assert.equal(seen?.path, `${place}/gemini-x:streamGenerateContent?alt=sse`);
    assert.equal(seen?.header('authorization'), 'Bearer google-1');
  });

  it('gets another token when one is refused', async () => {
    tokens().always(give('google-2'));
    upstream().respond(({ header }) => [
      header('authorization') === 'Bearer google-2'
        ? stream(geminiStream())
        : json(401, { error: { message: 'old' } }),
    ]);
    const path = '/v1beta/models/goog/gemini-x:streamGenerateContent?alt=sse';
    const reply = await gateway().ask(path, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(upstream().requests.length, 2);
    const bodies = await Promise.all(upstream().requests.map(({ whole }) => whole));
    assert.deepEqual(bodies[0], bodies[1]);
  });

  it('serves Anthropic’s models with the version in the body', async () => {
    tokens().always(give('google-3'));
    upstream().always(stream(messagesStream().text));
    const reply = await ask(
      'googclaude/claude-x@20251001',
      { stream: true },
      { 'anthropic-beta': 'some-beta' },
    );
    assert.equal(reply.status, 200, reply.text);
    const [seen] = upstream().requests;
    assert.ok(seen);
    const place = '/v1/projects/a-project/locations/global/publishers/anthropic/models';
    assert.equal(seen.path, `${place}/claude-x%4020251001:streamRawPredict`);
    assert.equal(seen.header('anthropic-beta'), 'some-beta');
    const expected = { anthropic_version: 'vertex-2023-10-16', ...question, stream: true };
    assert.deepEqual(JSON.parse((await seen.whole).toString()), expected);
  });
});

describe('A token that was fetched', () => {
  const token = 'entra/quoted+token-0123456789';
  const quoted = JSON.stringify({ error: { message: `Bad token ${token}`, type: 'x', code: 'bad' } });
  const spelled = quoted.replaceAll('/', '\\/').replace('quoted', '\\u0071uoted');
  const json400 = (text: string): Step[] => [body(400, text, { 'content-type': 'application/json' })];
  const chatPath = '/v1/chat/completions';
  const refusal = `data: ${quoted}\n\n`;
  const cases: Record<string, [stream: boolean, answer: () => Step[]]> = {
    'an error': [false, () => json400(quoted)],
    'an error that spells it with escapes': [false, () => json400(spelled)],
    'the beginning of a stream': [true, () => [stream(refusal)]],
  };

  for (const [what, [streamed, answer]] of Object.entries(cases))
    it(`is shown to nobody where the upstream quotes it in ${what}`, async () => {
      tokens().always(json(200, { access_token: token, expires_in: 3600 }));
      upstream().respond(({ header }) => {
        assert.equal(header('authorization')?.startsWith('Bearer entra'), true);
        return answer();
      });
      for (const path of streamed ? [chatPath] : [chatPath, '/v1/messages']) {
        const reply = await gateway().ask(path, { model: 'quoting/dep', stream: streamed, ...question });
        assert.match(reply.text, /Bad token \[redacted\]/, path);
        assert.doesNotMatch(reply.text, /quoted/, path);
        const entry = await gateway().entry(reply.header('x-request-id'));
        assert.match(String(entry.error?.message), /Bad token \[redacted\]/);
        const { stdout } = await gateway().cli('explain', entry.id);
        assert.doesNotMatch(stdout, /quoted/);
      }
      for (const file of ['modelgate.db', 'modelgate.db-wal'])
        assert.equal((await readFile(join(gateway().dataDir, file))).includes('quoted+token'), false, file);
    });
});

describe('Azure', () => {
  it('gets a token of Entra for an application', async () => {
    tokens().always(json(200, { access_token: 'entra-1', expires_in: 3600 }));
    upstream().always(json(200, chatAnswer()));
    const reply = await gateway().ask('/v1/chat/completions', { model: 'entra/dep', ...question });
    assert.equal(reply.status, 200, reply.text);
    const [asked] = tokens().requests;
    assert.equal(asked?.path, '/a-tenant/oauth2/v2.0/token');
    assert.deepEqual(Object.fromEntries(new URLSearchParams((await asked?.whole)?.toString())), {
      grant_type: 'client_credentials',
      scope: 'https://cognitiveservices.azure.com/.default',
      client_id: 'an-app',
      client_secret: 'app-secret',
    });
    const [seen] = upstream().requests;
    assert.equal(seen?.path, '/openai/v1/chat/completions');
    assert.equal(seen?.header('authorization'), 'Bearer entra-1');
    assert.equal(seen?.header('api-key'), undefined);
  });

  it('names the deployment in the path, with a version of the API', async () => {
    upstream().always(json(200, chatAnswer()));
    for (const name of ['azold', 'aznew'])
      await gateway().ask('/v1/chat/completions', { model: `${name}/my-deployment`, ...question });
    const [old, newer] = upstream().requests;
    const path = '/openai/deployments/my-deployment/chat/completions';
    assert.equal(old?.path, `${path}?api-version=2024-10-21`);
    assert.equal(newer?.path, `${path}?api-version=2025-04-01-preview`);
    assert.equal(old?.header('api-key'), 'azure-key');
    assert.deepEqual(JSON.parse((await old?.whole)?.toString() ?? ''), question);
  });
});

describe('a credential that is a document', () => {
  it('is refused with what is wrong with it, and without what is in it', async () => {
    const { gateway: running } = started;
    assert.ok(running);
    const cases: readonly [provider: string, document: object, says: RegExp][] = [
      [
        'bedrock',
        { access_key_id: 'AKID', region: 'eu-west-3', session_token: 'hidden' },
        /secret_access_key/,
      ],
      ['bedrock', { ...awsDocument, region: 'EU west' }, /region: a region is e\.g\. us-east-1/],
      ['vertex', { type: 'authorized_user', refresh_token: 'hidden' }, /service-account.*type/],
      ['azure-openai', { tenant_id: 't', client_id: 'c' }, /client_secret/],
      ['openai', { key: 'hidden' }, /takes a plain key/],
      [
        'vertex',
        {
          type: 'service_account',
          project_id: 'p',
          client_email: 'e@p',
          private_key: '-----BEGIN PRIVATE KEY-----\nhidden\n-----END PRIVATE KEY-----',
        },
        /private_key is not a readable RSA key/,
      ],
    ];
    for (const [provider, document, says] of cases) {
      const { code, stderr } = await running.cli(
        ...['provider', 'add', provider, '--name', 'bad', '--base-url', 'http://127.0.0.1:9'],
        ...['--api-key', JSON.stringify(document)],
      );
      assert.equal(code, 2, stderr);
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /hidden|aws\/secret/);
    }
  });

  it('shows nothing secret of itself, and names its own address', async () => {
    const args = ['provider', 'add', 'bedrock', '--name', 'own', '--api-key', JSON.stringify(awsDocument)];
    const added = await gateway().cliJson(...args);
    assert.deepEqual(
      [added['auth_type'], added['base_url'], added['has_credential']],
      ['aws-keys', 'https://bedrock-runtime.eu-west-3.amazonaws.com', true],
    );
    const shown = JSON.stringify([await gateway().cliJson('providers', 'list'), gateway().output()]);
    for (const secret of [
      aws.secret,
      'the-session-token',
      'app-secret',
      'PRIVATE KEY',
      'google-1',
      'entra-1',
    ])
      assert.equal(shown.includes(secret), false, secret);
  });
});

describe('SAP AI Core', () => {
  it('gets its requests at deployments, with a token of the service key and a resource group', async () => {
    tokens().always(json(200, { access_token: 'sap-token', expires_in: 43_199, token_type: 'bearer' }));
    upstream().always(json(200, chatAnswer()));
    const reply = await ask('sap/d0a1b2c3');
    assert.equal(reply.status, 200, reply.text);
    const [seen] = upstream().requests;
    assert.equal(seen?.path, '/v2/inference/deployments/d0a1b2c3/chat/completions?api-version=2024-10-21');
    assert.equal(seen?.header('authorization'), 'Bearer sap-token');
    assert.equal(seen?.header('ai-resource-group'), 'default');
    const [asked] = tokens().requests;
    const form = new URLSearchParams((await asked?.whole)?.toString());
    assert.equal(form.get('grant_type'), 'client_credentials');
    assert.equal(form.get('scope'), null);
  });
});
