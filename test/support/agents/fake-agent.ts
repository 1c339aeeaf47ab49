/**
 * A program that speaks the Agent Client Protocol and does what it is told: how it starts by its arguments
 * (`--at METHOD=hang|crash|error|auth|garbage`, `--protocol N`, `--load`, `--images`, `--models a,b`, `--options a,b`,
 * `--auth METHOD`, `--ignore-cancel`, `--stay`), and in each turn by the last line of its prompt, a JSON list of steps.
 * A prompt without steps is repeated.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    at: { type: 'string', multiple: true, default: [] },
    protocol: { type: 'string', default: '1' },
    load: { type: 'boolean', default: false },
    images: { type: 'boolean', default: false },
    models: { type: 'string' },
    options: { type: 'string' },
    auth: { type: 'string' },
    'ignore-cancel': { type: 'boolean', default: false },
    stay: { type: 'boolean', default: false },
  },
});

/** One thing to do in a turn. */
type Step =
  | { say: string }
  | { think: string }
  | { update: object }
  | { call: string; params: object }
  | { run: string; outputByteLimit?: number }
  | { permission: string; options?: readonly string[] }
  | { crash: number }
  | { hang: true }
  | { closeOutput: true }
  | { flood: number }
  | { line: string }
  | { bigLine: number }
  | { stderr: string }
  | { environment: readonly string[] }
  | { child: true }
  | { cwd: true }
  | { stop: string; usage?: object }
  | { fail: { code: number; message: string } };

type Message = Record<string, unknown>;
const send = (message: Message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let lastId = 0;
const waiting = new Map<number, (answer: Message) => void>();
const ask = (method: string, params: object): Promise<Message> => {
  lastId += 1;
  const id = lastId;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
};

const sessions = new Map<string, { cwd: string; turns: number; model: string | null }>();
let authenticated = flags.auth === undefined;
let cancel = () => {};

const never = () => new Promise<never>(() => setInterval(() => {}, 1_000_000));
const update = (sessionId: string, change: object) =>
  send({ method: 'session/update', params: { sessionId, update: change } });
const text = (kind: string, words: string) => ({
  sessionUpdate: kind,
  content: { type: 'text', text: words },
});

function misbehaviourAt(method: string): string | null {
  const found = flags.at.find((one) => one.startsWith(`${method}=`));
  return found?.slice(method.length + 1) ?? null;
}

async function answer(method: string, params: Message): Promise<object> {
  switch (misbehaviourAt(method)) {
    case 'hang':
      return never();
    case 'crash':
      console.error(`crashing at ${method}`);
      process.exit(7);
      break;
    case 'error':
      throw { code: -32603, message: `no ${method} today` };
    case 'garbage':
      process.stdout.write('Welcome to the fake agent\n{"jsonrpc": "2.0", "id":\n[1,2]\n');
      break;
    case 'nonsense':
      return { nothing: 'here' };
  }
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: Number(flags.protocol),
        agentInfo: { name: 'fake', version: '1.2.3' },
        agentCapabilities: {
          loadSession: flags.load,
          promptCapabilities: { image: flags.images },
          sessionCapabilities: { close: {} },
        },
        authMethods: flags.auth === undefined ? [] : [{ id: flags.auth, name: 'Log in' }],
        _client: params['clientCapabilities'],
      };
    case 'authenticate':
      if (params['methodId'] !== flags.auth) throw { code: -32602, message: 'unknown method' };
      authenticated = true;
      return {};
    case 'session/new':
    case 'session/load': {
      if (!authenticated) throw { code: -32000, message: 'Authentication required' };
      const loaded = params['sessionId'];
      const sessionId = typeof loaded === 'string' ? loaded : `s${sessions.size + 1}-${process.pid}`;
      sessions.set(sessionId, {
        cwd: String(params['cwd']),
        turns: loaded === undefined ? 0 : 100,
        model: null,
      });
      const models = flags.models?.split(',');
      const options = flags.options?.split(',');
      return {
        ...(loaded === undefined ? { sessionId } : {}),
        ...(models && {
          models: {
            currentModelId: models[0],
            availableModels: models.map((modelId) => ({ modelId, name: modelId })),
          },
        }),
        ...(options && {
          configOptions: [
            {
              id: 'model',
              category: 'model',
              type: 'select',
              currentValue: options[0],
              options: [{ group: 'all', options: options.map((value) => ({ value, name: value })) }],
            },
          ],
        }),
      };
    }
    case 'session/set_model':
    case 'session/set_config_option': {
      const session = sessions.get(String(params['sessionId']));
      if (session) session.model = String(params['modelId'] ?? params['value']);
      return {};
    }
    case 'session/close':
      sessions.delete(String(params['sessionId']));
      return {};
    case 'session/prompt':
      return turn(params);
    default:
      throw { code: -32601, message: `no method ${method}` };
  }
}

async function turn(params: Message): Promise<object> {
  const sessionId = String(params['sessionId']);
  const session = sessions.get(sessionId);
  if (session === undefined) throw { code: -32602, message: 'no such session' };
  session.turns += 1;
  const blocks = params['prompt'] as { type: string; text?: string; mimeType?: string }[];
  const prompt = blocks.map((block) => block.text ?? `[${block.type} ${block.mimeType}]`).join('\n');
  const steps = stepsIn(prompt);
  const cancelled = new Promise<object>((resolve) => {
    cancel = () => {
      if (!flags['ignore-cancel']) resolve({ stopReason: 'cancelled' });
    };
  });
  if (steps === null) {
    update(
      sessionId,
      text('agent_message_chunk', `turn ${session.turns} model ${session.model} prompt <<${prompt}>>`),
    );
    return { stopReason: 'end_turn' };
  }
  return Promise.race([cancelled, play(sessionId, session.cwd, steps)]);
}

function stepsIn(prompt: string): Step[] | null {
  const last = prompt.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('[{') ? (JSON.parse(last) as Step[]) : null;
}

async function play(sessionId: string, cwd: string, steps: readonly Step[]): Promise<object> {
  const say = (words: string) => update(sessionId, text('agent_message_chunk', words));
  for (const step of steps) {
    if ('say' in step) say(step.say);
    else if ('think' in step) update(sessionId, text('agent_thought_chunk', step.think));
    else if ('update' in step) update(sessionId, step.update);
    else if ('call' in step) {
      const { error, result } = await ask(step.call, { sessionId, ...step.params });
      say(`${step.call}: ${JSON.stringify(error ?? result)}\n`);
    } else if ('run' in step) {
      const { run: command, ...params } = step;
      const created = await ask('terminal/create', { sessionId, command, ...params });
      const { terminalId } = created['result'] as { terminalId: string };
      await ask('terminal/wait_for_exit', { sessionId, terminalId });
      const { result } = await ask('terminal/output', { sessionId, terminalId });
      await ask('terminal/release', { sessionId, terminalId });
      const { error } = await ask('terminal/output', { sessionId, terminalId });
      say(`${JSON.stringify({ ...(result as object), released: error })}\n`);
    } else if ('permission' in step) {
      const kinds = step.options ?? ['allow_always', 'allow_once', 'reject_once'];
      const { result } = await ask('session/request_permission', {
        sessionId,
        toolCall: { toolCallId: 't1', title: `Use ${step.permission}`, kind: step.permission },
        options: kinds.map((kind) => ({ optionId: `opt-${kind}`, name: kind, kind })),
      });
      say(`permission: ${JSON.stringify(result)}\n`);
    } else if ('crash' in step) process.exit(step.crash);
    else if ('closeOutput' in step) closeSync(1);
    else if ('hang' in step) await never();
    else if ('flood' in step) {
      for (let sent = 0; sent < step.flood; sent += 1000) {
        if (!process.stdout.write('')) await new Promise((resolve) => process.stdout.once('drain', resolve));
        say('x'.repeat(1000));
      }
    } else if ('line' in step) process.stdout.write(`${step.line}\n`);
    else if ('bigLine' in step) process.stdout.write(`{"a":"${'y'.repeat(step.bigLine)}"}\n`);
    else if ('stderr' in step) process.stderr.write(`${step.stderr}\n`);
    else if ('environment' in step)
      say(
        JSON.stringify(
          step.environment.length === 0
            ? Object.keys(process.env).sort()
            : step.environment.map((name) => process.env[name] ?? null),
        ),
      );
    else if ('cwd' in step) say(JSON.stringify({ session: cwd, process: process.cwd() }));
    else if ('child' in step) {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      say(String(child.pid));
    } else if ('fail' in step) throw step.fail;
    else if ('stop' in step)
      return { stopReason: step.stop, ...(step.usage === undefined ? {} : { usage: step.usage }) };
  }
  return { stopReason: 'end_turn' };
}

if (flags.stay) process.on('SIGTERM', () => {});

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as Message;
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      waiting.get(Number(id))?.(message);
      waiting.delete(Number(id));
      return;
    }
    if (id === undefined) {
      if (method === 'session/cancel') cancel();
      return;
    }
    answer(method, (params ?? {}) as Message).then(
      (result) => send({ id, result }),
      (error: { code?: number; message?: string }) =>
        send({ id, error: { code: error.code ?? -32603, message: error.message ?? 'failed' } }),
    );
  })
  .on('close', () => {
    if (!flags.stay) process.exit(0);
  });
