import { noUsage } from '../../codecs/wire-format.ts';
import type { Trace, TracedAttempt } from '../../combos/trace.ts';
import type { Usage } from '../../ledger/buckets.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { Random } from './random.ts';

/** What a program sends: how long its work is, and how its requests grow. */
interface Client {
  share: number;
  userAgent: string;
  format: string;
  /** Whom it belongs to. */
  keys: readonly string[];
  /** What it asks for. */
  models: readonly { share: number; requested: string }[];
  /** Requests in one piece of work, at the median. */
  turns: number;
  /** Tokens that every request begins with: instructions and tools. */
  preamble: number;
  /** Tokens that a turn adds, at the median. */
  grows: number;
  /** Tokens of an answer, at the median. */
  answers: number;
  /** Whether it works at night instead of in working hours. */
  nightly: boolean;
  /** Whether it names its session with each request. */
  session: boolean;
  /** The service tier that it asks for; the usual one where it is left out. */
  tier?: string;
}

const clients: readonly Client[] = [
  {
    share: 46,
    userAgent: 'claude-cli/2.1.329 (external, cli)',
    format: 'anthropic-messages',
    keys: ['ana-laptop', 'ben-laptop', 'chen-workstation'],
    models: [
      { share: 5, requested: 'auto' },
      { share: 3, requested: 'coding' },
      { share: 2, requested: 'anthropic-team/claude-sonnet-4-5' },
      { share: 1, requested: 'fast' },
    ],
    turns: 22,
    preamble: 19_000,
    grows: 1_400,
    answers: 420,
    nightly: false,
    session: true,
  },
  {
    share: 22,
    userAgent: 'codex_cli_rs/0.169.0 (Debian 12.0.0; x86_64) xterm-256color',
    format: 'openai-responses',
    keys: ['ana-laptop', 'chen-workstation'],
    models: [
      { share: 5, requested: 'openai-team/gpt-5' },
      { share: 2, requested: 'coding' },
    ],
    turns: 14,
    preamble: 9_000,
    grows: 1_900,
    answers: 510,
    nightly: false,
    session: true,
  },
  {
    share: 10,
    userAgent: 'opencode/1.18.33 ai-sdk/openai-compatible/3.0.92',
    format: 'openai-chat',
    keys: ['ben-laptop'],
    models: [
      { share: 3, requested: 'google/gemini-2.5-flash' },
      { share: 2, requested: 'cheap' },
      { share: 1, requested: 'best' },
    ],
    turns: 10,
    preamble: 11_000,
    grows: 1_100,
    answers: 300,
    nightly: false,
    session: true,
  },
  {
    share: 14,
    userAgent: 'review-bot/3.2',
    format: 'openai-chat',
    keys: ['ci-review-bot'],
    models: [{ share: 1, requested: 'review' }],
    turns: 4,
    preamble: 3_000,
    grows: 2_600,
    answers: 650,
    nightly: false,
    session: false,
  },
  {
    share: 8,
    userAgent: 'python-httpx/0.28.1',
    format: 'openai-chat',
    keys: ['nightly-docs'],
    models: [
      { share: 3, requested: 'deepseek-night/deepseek-chat' },
      { share: 1, requested: 'cheap' },
    ],
    turns: 30,
    preamble: 700,
    grows: 0,
    answers: 900,
    nightly: true,
    session: false,
  },
  {
    share: 5,
    userAgent: 'eval-runner/0.9',
    format: 'openai-chat',
    keys: ['nightly-docs'],
    models: [{ share: 1, requested: 'openai-team/gpt-5-mini' }],
    turns: 12,
    preamble: 1_800,
    grows: 0,
    answers: 500,
    nightly: true,
    session: false,
    tier: 'flex',
  },
];

interface Target {
  connection: string;
  model: string;
}

const sonnet = 'claude-sonnet-4-5';
const flash: Target = { connection: 'google', model: 'gemini-2.5-flash' };
const deepseek: Target = { connection: 'deepseek-night', model: 'deepseek-chat' };

/** Where each requested name leads, the first choice first, and by which combo. */
const routes: Readonly<Record<string, { combo: string | null; targets: readonly Target[] }>> = {
  auto: codingRoute(),
  coding: codingRoute(),
  review: { combo: 'review', targets: [{ connection: 'openai-team', model: 'gpt-5-mini' }, flash] },
  cheap: { combo: 'cheap', targets: [deepseek, flash] },
  fast: { combo: null, targets: [flash] },
  best: { combo: null, targets: [{ connection: 'anthropic-team', model: sonnet }] },
};

function codingRoute(): { combo: string; targets: readonly Target[] } {
  return {
    combo: 'coding',
    targets: [
      { connection: 'anthropic-team', model: sonnet },
      { connection: 'anthropic-spare', model: sonnet },
      { connection: 'openai-team', model: 'gpt-5' },
    ],
  };
}

/** Whose answers name the service tier. */
const namesTiers: ReadonlySet<string> = new Set(['openai', 'anthropic']);

/** How soon and how fast a provider answers. */
const speeds: Readonly<Record<string, { firstMs: number; tokensPerSecond: number; caches: boolean }>> = {
  anthropic: { firstMs: 1_150, tokensPerSecond: 72, caches: true },
  openai: { firstMs: 900, tokensPerSecond: 95, caches: true },
  gemini: { firstMs: 620, tokensPerSecond: 190, caches: true },
  deepseek: { firstMs: 1_500, tokensPerSecond: 38, caches: true },
};

interface Failure {
  status: number | null;
  code: string;
  message: string;
  effect: string | null;
  afterMs: number;
}

/** Bad hours: in this part of the month, an account fails so often, in this way. */
const incidents: readonly {
  connection: string;
  from: number;
  until: number;
  often: number;
  failure: Failure;
}[] = [
  {
    connection: 'anthropic-team',
    from: 0.662,
    until: 0.666,
    often: 0.9,
    failure: {
      status: 529,
      code: 'upstream_overloaded',
      message: 'anthropic-team answered 529: Overloaded',
      effect: 'cooling for 30 s (overloaded)',
      afterMs: 1_900,
    },
  },
  {
    connection: 'openai-team',
    from: 0.9,
    until: 0.905,
    often: 0.6,
    failure: {
      status: 429,
      code: 'rate_limit_exceeded',
      message: 'openai-team answered 429: Rate limit reached for gpt-5 on tokens per min (TPM)',
      effect: 'cooling for 20 s (rate limit)',
      afterMs: 310,
    },
  },
  {
    connection: 'google',
    from: 0.985,
    until: 0.9865,
    often: 0.7,
    failure: {
      status: null,
      code: 'upstream_timeout',
      message: 'google did not begin to answer within 60 s',
      effect: 'failed 3 times in a row: not used for 60 s',
      afterMs: 60_000,
    },
  },
];

const stray: Failure = {
  status: 500,
  code: 'upstream_error',
  message: 'the upstream answered 500: Internal server error',
  effect: null,
  afterMs: 2_400,
};

/** What an owner did wrong now and then, refused before any upstream was asked. */
const refusals: readonly {
  share: number;
  status: number;
  code: string;
  message: string;
  requested: string | null;
}[] = [
  {
    share: 5,
    status: 404,
    code: 'model_not_found',
    message: 'no connection offers "gpt-5-codex-max": see GET /v1/models',
    requested: 'gpt-5-codex-max',
  },
  {
    share: 3,
    status: 403,
    code: 'model_not_allowed',
    message: 'the key "ci-review-bot" may not use "anthropic-team/claude-sonnet-4-5"',
    requested: 'anthropic-team/claude-sonnet-4-5',
  },
  {
    share: 4,
    status: 400,
    code: 'context_length_exceeded',
    message: 'no target takes about 231000 tokens: the largest takes 200000',
    requested: 'coding',
  },
  { share: 4, status: 401, code: 'invalid_api_key', message: 'the API key is not known', requested: null },
];

export interface TrafficInput {
  /** Milliseconds since the epoch at which it ends. */
  end: number;
  days: number;
  /** How many requests, about. */
  requests: number;
  /** Ids by name. */
  keyIds: ReadonlyMap<string, string>;
  comboIds: ReadonlyMap<string, string>;
  /** What each key says of its requests, by the key's name. */
  keyTags: ReadonlyMap<string, readonly string[]>;
  connections: ReadonlyMap<string, { id: string; provider: string; billing: LedgerEntry['billing'] }>;
  /** What it cost at that provider, in USD. */
  costOf(
    provider: string,
    model: string,
    served: { usage: Usage; tier: string | null },
    at: number,
  ): Pick<LedgerEntry, 'costUsd' | 'priceSource' | 'cacheSavingsUsd'>;
  /** The name of the session of a piece of work, whose client names one. */
  sessionOf(key: string, began: number): string;
}

export interface DemoRequest {
  entry: LedgerEntry;
  /** Null where nothing but the entry is kept of a decision. */
  trace: Trace | null;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The requests of a team over some days, in the order in which their work began. */
export function* traffic(input: TrafficInput, random: Random): Generator<DemoRequest> {
  const { days, end, requests } = input;
  const work = clients.reduce((sum, { share, turns }) => sum + share * turns, 0);
  const perShare = requests / work;
  for (let day = days; day > 0; day -= 1) {
    const began = end - day * DAY_MS;
    const weekday = new Date(began).getUTCDay();
    const busy = weekday === 0 || weekday === 6 ? 0.12 : 1.35;
    // Slowly more, as more people come to use it.
    const trend = 0.75 + (0.5 * (days - day)) / days;
    for (const client of clients) {
      const pieces = (client.share * perShare * busy * trend) / days;
      const count = Math.floor(pieces) + (random.chance(pieces % 1) ? 1 : 0);
      for (let piece = 0; piece < count; piece += 1)
        yield* pieceOfWork(input, client, timeOf(began, client, random), random);
    }
  }
}

/** Two humps over the working day, or the small hours. */
function timeOf(day: number, { nightly }: Client, random: Random): number {
  if (nightly) return day + (1.5 + random.next() * 2.5) * HOUR_MS;
  const hump = random.chance(0.45) ? 10.2 : 15;
  const hour = hump + (random.next() + random.next() + random.next() - 1.5) * 2.6;
  return day + hour * HOUR_MS;
}

function* pieceOfWork(
  input: TrafficInput,
  client: Client,
  began: number,
  random: Random,
): Generator<DemoRequest> {
  const key = random.pick(client.keys);
  const { requested } = random.pickByShare(client.models);
  const turns = Math.max(1, Math.round(random.spread(client.turns, 0.6)));
  let at = began;
  const session = client.session ? input.sessionOf(key, began) : null;
  let context = client.preamble;
  for (let turn = 0; turn < turns && at < input.end; turn += 1) {
    const grown = Math.round(random.spread(client.grows + 120, 0.9));
    const made = random.chance(0.006)
      ? refused(input, client, key, at, random)
      : answered(
          input,
          {
            client,
            key,
            requested,
            at,
            held: turn === 0 ? 0 : context,
            fresh: turn === 0 ? context + grown : grown,
          },
          random,
        );
    yield { ...made, entry: { ...made.entry, session } };
    context += grown;
    at += made.entry.durationMs + random.spread(client.nightly ? 500 : 9_000, 1);
  }
}

interface Ask {
  client: Client;
  key: string;
  requested: string;
  at: number;
  /** Tokens that an earlier turn sent already. */
  held: number;
  fresh: number;
}

function answered(input: TrafficInput, ask: Ask, random: Random): DemoRequest {
  const { client, requested } = ask;
  const at = Math.round(ask.at);
  const route = routes[requested] ?? { combo: null, targets: [targetOf(requested)] };
  const attempts: TracedAttempt[] = [];
  let spent = 0;
  for (const [index, target] of route.targets.entries()) {
    const { id, provider } = connectionOf(input, target.connection);
    const name = { connectionId: id, connection: target.connection, provider, model: target.model };
    const failure = failureOf(input, target.connection, at, random);
    if (failure !== null) {
      const { afterMs, code, effect, message, status } = failure;
      const durationMs = Math.round(random.spread(afterMs, 0.15));
      attempts.push({
        ...name,
        startedMs: spent,
        durationMs,
        status,
        outcome: 'failed',
        error: { code, message },
        effect,
      });
      spent += durationMs;
      if (index < route.targets.length - 1) continue;
      const entry = {
        ...blank(input, client, ask.key, at, requested, random),
        ...named(name),
        comboId: comboId(input, route.combo),
      };
      return withTrace(
        {
          ...entry,
          status: status === 429 ? 429 : 502,
          outcome: 'failed',
          errorCode: code,
          errorMessage: message,
          durationMs: spent,
          attempts: attempts.length,
        },
        route,
        attempts,
        input,
      );
    }
    const speed = speeds[provider] ?? { firstMs: 1_000, tokensPerSecond: 60, caches: false };
    const output = Math.max(3, Math.round(random.spread(client.answers, 0.9)));
    const ttft = Math.round(random.spread(speed.firstMs, 0.45) + ask.held / 90);
    const left = random.chance(0.011);
    const durationMs = Math.round(ttft + ((left ? 0.4 : 1) * output * 1000) / speed.tokensPerSecond);
    attempts.push({
      ...name,
      startedMs: spent,
      durationMs,
      status: 200,
      outcome: left ? 'aborted' : 'answered',
      error: null,
      effect: null,
    });
    const usage = usageOf(provider, speed.caches, ask, left ? Math.round(output * 0.4) : output);
    const servedTier = namesTiers.has(provider) ? (client.tier ?? 'default') : null;
    const served = { usage, tier: servedTier };
    const cost = input.costOf(provider, target.model, served, at);
    const entry: LedgerEntry = {
      ...blank(input, client, ask.key, at, requested, random),
      ...named(name),
      comboId: comboId(input, route.combo),
      status: left ? 499 : 200,
      outcome: left ? 'aborted' : 'ok',
      errorCode: left ? 'client_closed' : null,
      errorMessage: left ? 'the client closed the connection' : null,
      usage,
      estimated: left,
      servedTier,
      ...(left ? {} : finishOf(provider, ask.held > 0 && output % 3 > 0)),
      ...cost,
      billing: connectionOf(input, target.connection).billing,
      routingSavingsUsd:
        route.combo === null ? null : savedByRouting(input, route.targets, usage, at, cost.costUsd),
      ttftMs: spent + ttft,
      durationMs: spent + durationMs,
      attempts: attempts.length,
      upstreamRequestId: `req_${random.text(20)}`,
    };
    return withTrace(entry, route, attempts, input);
  }
  throw new RangeError(`"${requested}" has no target`);
}

/** Why an answer ended: a tool's later turns end in calls, most of the time. */
function finishOf(provider: string, calls: boolean): Pick<LedgerEntry, 'finishReason' | 'rawFinishReason'> {
  const [stop, called] = finishWords[provider] ?? ['stop', 'tool_calls'];
  return { finishReason: calls ? 'tool_calls' : 'stop', rawFinishReason: calls ? called : stop };
}

/** The words of providers that do not have OpenAI's. */
const finishWords: Readonly<Record<string, readonly [stop: string, called: string]>> = {
  anthropic: ['end_turn', 'tool_use'],
  gemini: ['STOP', 'STOP'],
};

function savedByRouting(
  input: TrafficInput,
  [first]: readonly Target[],
  usage: Usage,
  at: number,
  costUsd: number | null,
): number | null {
  if (first === undefined || costUsd === null) return null;
  const otherwise = input.costOf(
    connectionOf(input, first.connection).provider,
    first.model,
    { usage, tier: null },
    at,
  );
  return otherwise.costUsd === null ? null : otherwise.costUsd - costUsd;
}

/** The answer of an Anthropic server reports what it stored; the others report only what they found. */
function usageOf(provider: string, caches: boolean, { fresh, held }: Ask, output: number): Usage {
  const writes = provider === 'anthropic';
  const reasoning = provider === 'openai' ? Math.round(output * 0.45) : 0;
  return {
    ...noUsage,
    input: writes ? 12 : fresh + (caches ? 0 : held),
    cacheRead: caches ? held : 0,
    cacheWrite5m: writes ? fresh : 0,
    output: output - reasoning,
    reasoning,
  };
}

function refused(input: TrafficInput, client: Client, key: string, at: number, random: Random): DemoRequest {
  const { code, message, requested, status } = random.pickByShare(refusals);
  const hasKey = code !== 'invalid_api_key';
  const entry: LedgerEntry = {
    ...blank(input, client, key, Math.round(at), requested, random),
    ...(hasKey ? {} : { keyId: null, tags: [] }),
    status,
    outcome: 'failed',
    errorCode: code,
    errorMessage: message,
    durationMs: random.whole(1, 9),
  };
  return { entry, trace: null };
}

function failureOf(
  { days, end }: TrafficInput,
  connection: string,
  at: number,
  random: Random,
): Failure | null {
  const part = 1 - (end - at) / (days * DAY_MS);
  const bad = incidents.find((one) => one.connection === connection && part >= one.from && part < one.until);
  if (bad !== undefined && random.chance(bad.often)) return bad.failure;
  return random.chance(0.0035) ? stray : null;
}

function withTrace(
  entry: LedgerEntry,
  { combo, targets }: { combo: string | null; targets: readonly Target[] },
  attempts: TracedAttempt[],
  input: TrafficInput,
): DemoRequest {
  if (combo === null && attempts.length === 1 && entry.outcome === 'ok') return { entry, trace: null };
  const requested = entry.requestedModel ?? '';
  const via =
    requested === 'auto'
      ? [{ by: 'active-combo' as const, name: combo ?? '' }]
      : [
          {
            by: combo === null ? ('connection' as const) : ('combo' as const),
            name: combo ?? entry.connection ?? '',
          },
        ];
  const candidates = targets.map(({ connection, model }) => {
    const { id, provider } = connectionOf(input, connection);
    return { connectionId: id, connection, provider, model };
  });
  const strategies: Readonly<Record<string, string>> = {
    coding: 'priority',
    review: 'lowest-cost',
    cheap: 'round-robin',
  };
  return {
    entry,
    trace: {
      requested,
      via,
      combo,
      strategy: combo === null ? null : (strategies[combo] ?? null),
      candidates,
      skipped: [],
      affinity: null,
      attempts,
    },
  };
}

/** An entry of which nothing is known yet but who asks for what. */
function blank(
  { keyIds, keyTags }: TrafficInput,
  { format, tier, userAgent }: Client,
  key: string,
  at: number,
  requestedModel: string | null,
  random: Random,
): LedgerEntry {
  return {
    id: `req_${at.toString(36).padStart(9, '0')}${random.text(12)}`,
    startedAt: at,
    keyId: keyIds.get(key) ?? null,
    connectionId: null,
    connection: null,
    provider: null,
    format,
    requestedModel,
    comboId: null,
    innerComboIds: [],
    model: null,
    dropped: [],
    status: 200,
    outcome: 'ok',
    errorCode: null,
    errorMessage: null,
    streamed: !userAgent.startsWith('review-bot') && !userAgent.startsWith('python'),
    usage: null,
    estimated: false,
    cached: false,
    continued: 0,
    requestedTier: tier ?? null,
    servedTier: null,
    finishReason: null,
    rawFinishReason: null,
    costUsd: null,
    priceSource: null,
    cacheSavingsUsd: null,
    billing: 'metered',
    routingSavingsUsd: null,
    session: null,
    ttftMs: null,
    durationMs: 0,
    attempts: 0,
    upstreamRequestId: null,
    userAgent,
    tags: keyTags.get(key) ?? [],
  };
}

function named({
  connection,
  connectionId,
  model,
  provider,
}: {
  connectionId: string;
  connection: string;
  provider: string;
  model: string;
}) {
  return { connectionId, connection, provider, model };
}

function comboId({ comboIds }: TrafficInput, name: string | null): string | null {
  return name === null ? null : (comboIds.get(name) ?? null);
}

function targetOf(requested: string): Target {
  const slash = requested.indexOf('/');
  return { connection: requested.slice(0, slash), model: requested.slice(slash + 1) };
}

function connectionOf(
  { connections }: TrafficInput,
  name: string,
): { id: string; provider: string; billing: LedgerEntry['billing'] } {
  const connection = connections.get(name);
  if (connection === undefined) throw new RangeError(`no connection "${name}"`);
  return connection;
}
