import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tools } from '../../../src/tools/catalogue/index.ts';
import { configureTool, type ToolPlace } from '../../../src/tools/configuring/configure.ts';
import { type Diagnosis, type DoctorInput, diagnose } from '../../../src/tools/doctor/doctor.ts';
import { locate } from '../../../src/tools/machine.ts';
import { sampleOf } from '../../../src/tools/samples/by-tool.ts';
import { keyVariable, type Tool, type ToolApi } from '../../../src/tools/tool.ts';
import { connectionsTo } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { stream } from '../../support/upstream/steps.ts';
import { connectionsToAll, modelThatReads, upstreams } from '../../tools/model.ts';

const at = setting();
type UpstreamName = keyof typeof upstreams;

/** The upstream that speaks the format of a tool; the four others are foreign to it. */
const own: Readonly<Record<ToolApi, UpstreamName>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'gemini',
};

const statusOf = ({ checks }: Diagnosis, name: string) => checks.find((check) => check.name === name)?.status;
const textOf = ({ checks }: Diagnosis, name: string) => checks.find((check) => check.name === name)?.message;

describe('the doctor of tools', () => {
  let folder: string;
  let place: ToolPlace;
  before(async () => {
    const more = connectionsToAll(at.upstream.url).slice(connectionsTo('').length);
    for (const connection of more) await at.gateway.connect(connection);
    folder = await mkdtemp(join(tmpdir(), 'gateway-doctor-'));
    await mkdir(join(folder, 'home'));
    const machine = { platform: process.platform, home: join(folder, 'home'), variables: {} };
    place = { machine, dataDir: join(folder, 'data'), now: Date.now };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const ask: DoctorInput['ask'] = async ({ body, headers, key, url }) => {
    const { pathname, search } = new URL(url);
    assert.ok(url.startsWith(at.gateway.url), 'nobody but the gateway is asked');
    const authorization = `Bearer ${key ?? at.gateway.key}`;
    const reply = await at.gateway.ask(pathname + search, body, { ...headers, authorization });
    const names = ['content-type', 'x-request-id', 'x-gateway-connection', 'x-gateway-model'];
    return {
      status: reply.status,
      headers: Object.fromEntries(names.map((name) => [name, reply.header(name)])),
      text: reply.text,
    };
  };
  const environmentOf = (tool: Tool, model: string): DoctorInput['environment'] => {
    const values: Record<string, string> = { [keyVariable]: at.gateway.key };
    for (const [name, value] of Object.entries(tool.recipe.environment ?? {}))
      values[name] = value
        .replace('<base_url>', `${at.gateway.url}/v1`)
        .replace('<api_key>', at.gateway.key)
        .replace('<model>', model);
    return { variables: values, set: Object.keys(values) };
  };
  const look = async (tool: Tool, model: string, more: Partial<DoctorInput> = {}) =>
    diagnose({
      place,
      tool,
      detection: { installed: true, runnable: true, version: '1.2.3', commandPath: '/bin/tool' },
      root: at.gateway.url,
      environment: environmentOf(tool, model),
      key: null,
      model: null,
      send: false,
      models: async () => [model],
      ask,
      ...more,
    });
  const setUp = (tool: Tool, model: string) =>
    configureTool(place, { tool, root: at.gateway.url, apiKey: at.gateway.key, model });
  const named = (id: string): Tool => {
    const tool = tools.find((one) => one.id === id);
    assert.ok(tool !== undefined, id);
    return tool;
  };

  // Tools that keep their endpoints where only they can read them have no configuration to look at.
  const known = tools.filter(({ recipe }) => recipe.files.length > 0 || recipe.environment !== undefined);
  for (const tool of known) {
    const foreign = Object.entries(upstreams).filter(([name]) => name !== own[tool.recipe.api]);
    for (const [name, upstream] of foreign) {
      it(`${tool.id} with a model of ${name}: tells what is not carried over, then sends it`, async () => {
        const { calls } = sampleOf(tool);
        at.upstream.respond(modelThatReads(upstream, new RegExp(`^${calls}$`), () => ({ path: 'note.txt' })));
        await setUp(tool, upstream.model);
        const dry = await look(tool, upstream.model);
        assert.deepEqual(
          dry.checks.filter(({ status }) => status === 'fail'),
          [],
        );
        assert.equal(at.upstream.requests.length, 0, 'nobody was asked');
        const [target] = dry.targets;
        assert.equal(target?.relayed, false);
        assert.equal(statusOf(dry, 'Translation'), target?.dropped.length === 0 ? 'ok' : 'warn');
        for (const lost of target?.dropped ?? []) assert.ok(textOf(dry, 'Translation')?.includes(lost), lost);

        const sent = await look(tool, upstream.model, { send: true });
        assert.equal(at.upstream.requests.length, 1);
        for (const check of ['Answer', 'Streaming', 'Tool calls'])
          assert.equal(statusOf(sent, check), 'ok', textOf(sent, check));
      });
    }
  }

  it('passes a request of its own format as it is', async () => {
    await setUp(named('codex'), upstreams.responses.model);
    const diagnosis = await look(named('codex'), upstreams.responses.model);
    assert.deepEqual([statusOf(diagnosis, 'Translation'), diagnosis.targets[0]?.relayed], ['ok', true]);
  });

  it('says of Claude Code, Codex and OpenClaw what each loses', async () => {
    const lost = async (id: string, model: string) => {
      await setUp(named(id), model);
      return (await look(named(id), model)).targets[0]?.dropped ?? [];
    };
    const claude = await lost('claude', upstreams.gemini.model);
    for (const name of ['cache_control', 'context_management', 'metadata.user_id', 'tools.defer_loading'])
      assert.ok(claude.includes(name), name);
    assert.ok((await lost('codex', upstreams.chat.model)).includes('client_metadata'));
    assert.ok(
      (await lost('openclaw', upstreams.gemini.model)).some((name) => name.endsWith('.patternProperties')),
    );
  });

  it('finds what is wrong, each in its place', async () => {
    const codex = named('codex');
    const { model } = upstreams.chat;
    await setUp(codex, model);
    const failing = async (more: Partial<DoctorInput>) => {
      const { checks } = await look(codex, model, more);
      return checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
    };
    assert.deepEqual(await failing({}), []);
    assert.deepEqual(await failing({ key: 'sk-nobody0000000000000000000000000' }), ['Key']);
    assert.deepEqual(await failing({ model: 'nobody/none' }), ['Model']);
    assert.deepEqual(await failing({ environment: { variables: {}, set: [] } }), ['Environment']);
    const gone = () => Promise.reject(new Error('ECONNREFUSED'));
    assert.deepEqual(await failing({ ask: gone }), ['Address']);
    const stranger = async () => ({ status: 404, headers: {}, text: '<html>' });
    assert.deepEqual(await failing({ ask: stranger }), ['Address']);
    const older = async () => ({ status: 200, headers: {}, text: '{"choices":[]}' });
    assert.deepEqual(await failing({ ask: older }), ['Address']);
  });

  it('says when it tried a model that is not the tool’s own', async () => {
    const letta = named('letta');
    await setUp(letta, upstreams.chat.model);
    const tried = await look(letta, upstreams.chat.model);
    assert.match(
      textOf(tried, 'Model') ?? '',
      /^none is set for Letta Code, so one was tried: "up\/m-1" leads/,
    );
    const none = await look(letta, upstreams.chat.model, { models: async () => [] });
    assert.deepEqual([statusOf(none, 'Model'), none.model], ['fail', null]);
  });

  it('sees variables that win, a file that was changed, and an address without its version', async () => {
    const claude = named('claude');
    const path = locate(claude.recipe.files[0] ?? assert.fail(), place.machine);
    const { model } = upstreams.messages;
    await setUp(claude, model);
    const set = [keyVariable, 'ANTHROPIC_API_KEY'];
    const shadowed = await look(claude, model, { environment: { variables: {}, set } });
    assert.equal(statusOf(shadowed, 'Environment'), 'fail');
    assert.match(textOf(shadowed, 'Environment') ?? '', /ANTHROPIC_API_KEY is set here/);

    const elsewhere = { env: { ANTHROPIC_BASE_URL: 'https://other.example.com' } };
    await writeFile(path, JSON.stringify(elsewhere));
    const other = await look(claude, model, { key: at.gateway.key });
    assert.equal(statusOf(other, 'Configuration'), 'fail');
    assert.equal(statusOf(other, 'Key'), 'ok', 'the gateway was tried all the same');
    await writeFile(path, '{,');
    assert.equal(statusOf(await look(claude, model, { key: at.gateway.key }), 'Configuration'), 'fail');

    const opencode = named('opencode');
    await setUp(opencode, upstreams.chat.model);
    const file = locate(opencode.recipe.files[0] ?? assert.fail(), place.machine);
    await mkdir(dirname(file), { recursive: true });
    const provider = { modelgate: { options: { baseURL: at.gateway.url } } };
    await writeFile(file, JSON.stringify({ provider, model: `modelgate/${upstreams.chat.model}` }));
    const bare = await look(opencode, upstreams.chat.model);
    assert.equal(statusOf(bare, 'Address'), 'warn');
    assert.match(textOf(bare, 'Address') ?? '', /\/v1 for OpenCode/);
  });

  it('detects an answer that is not a stream, one that breaks off, and a model that calls no tools', async () => {
    const pi = named('pi');
    const { model } = upstreams.chat;
    await setUp(pi, model);
    at.upstream.always(stream(upstreams.chat.answer({ text: ['Hello'] })));
    const words = await look(pi, model, { send: true });
    assert.deepEqual([statusOf(words, 'Streaming'), statusOf(words, 'Tool calls')], ['ok', 'warn']);
    const canned = (text: string, type: string): Partial<DoctorInput> => ({
      send: true,
      ask: (request) =>
        request.headers['x-gateway-dry-run'] === undefined
          ? Promise.resolve({ status: 200, headers: { 'content-type': type }, text })
          : ask(request),
    });
    assert.equal(statusOf(await look(pi, model, canned('{}', 'application/json')), 'Streaming'), 'fail');
    assert.equal(
      statusOf(await look(pi, model, canned('data: {}\n\n', 'text/event-stream')), 'Streaming'),
      'fail',
    );
  });

  it('asks with a request of the size that the tool really sends, and sends a short one', async () => {
    const sizes: number[] = [];
    const measured: DoctorInput['ask'] = (request) => {
      sizes.push(JSON.stringify(request.body).length);
      return ask(request);
    };
    const letta = named('letta');
    await setUp(letta, upstreams.chat.model);
    at.upstream.always(stream(upstreams.chat.answer({ text: ['Hello'] })));
    const { request } = await look(letta, upstreams.chat.model, { ask: measured, send: true });
    const [dry = 0, sent = 0] = sizes;
    assert.equal(request.seen_in, '@letta-ai/letta-code@0.32.18');
    assert.ok(Math.abs(dry - request.bytes) < 10, `${dry} bytes for ${request.bytes}`);
    assert.ok(sent < 5_000, `${sent} bytes`);
  });
});
