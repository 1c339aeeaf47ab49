import type { ErrorCode } from '../lib/error.ts';
import type { FaultKind, FaultRow } from '../providers/fault.ts';
import type { Provider } from '../providers/provider.ts';

/** What becomes of the account. `model`: of this model at it alone. */
export type Effect =
  | { to: 'none' }
  | { to: 'cooling'; scope: 'connection' | 'model' | 'limited'; baseMs: number; capMs: number }
  | { to: 'exhausted'; scope: 'connection' | 'limited'; baseMs: number; capMs: number }
  | { to: 'needs-attention'; scope: 'connection' };

export interface Fault {
  /** In a few words, for the reason of a condition and for messages. */
  label: string;
  effect: Effect;
  /** What is tried next: another target, one that reads more, or nothing, for it would fail anywhere. */
  next: 'another' | 'larger' | 'stop';
  /** It may be over in a moment: where no time was named, the same target may be tried again after the others. */
  passing: boolean;
}

const seconds = 1000;
const minutes = 60 * seconds;

const cooling = (scope: 'connection' | 'model' | 'limited', baseMs: number, capMs: number): Effect => ({
  to: 'cooling',
  scope,
  baseMs,
  capMs,
});
const none: Effect = { to: 'none' };

/** Every kind of failure and what it does. `limited` is the scope of the provider's rate limits. */
export const faults: Readonly<Record<FaultKind, Fault>> = {
  unreachable: row('unreachable', cooling('connection', 2 * seconds, minutes), 'another', true),
  cut: row('connection cut', cooling('model', seconds, minutes), 'another', true),
  timeout: row('timed out', cooling('model', 5 * seconds, 2 * minutes), 'another', false),
  protocol: row('no API answer', cooling('model', 5 * seconds, 5 * minutes), 'another', false),
  path: row('wrong address', cooling('model', 10 * seconds, 5 * minutes), 'another', false),
  credential: row('credential refused', { to: 'needs-attention', scope: 'connection' }, 'another', false),
  permission: row('not permitted', cooling('model', minutes, 30 * minutes), 'another', false),
  billing: row(
    'no credit left',
    { to: 'exhausted', scope: 'connection', baseMs: 5 * minutes, capMs: 60 * minutes },
    'another',
    false,
  ),
  quota: row(
    'quota used up',
    { to: 'exhausted', scope: 'limited', baseMs: 5 * minutes, capMs: 60 * minutes },
    'another',
    false,
  ),
  'rate-limit': row('rate limit', cooling('limited', 2 * seconds, 5 * minutes), 'another', true),
  overloaded: row('overloaded', cooling('model', 2 * seconds, minutes), 'another', true),
  server: row('server error', cooling('model', seconds, minutes), 'another', true),
  model: row('model not served', cooling('model', minutes, 30 * minutes), 'another', false),
  busy: row('busy', none, 'another', true),
  context: row('conversation too long', none, 'larger', false),
  unusable: row('not usable', none, 'another', false),
  untranslatable: row('not translatable', none, 'another', false),
  request: row('request refused', none, 'stop', false),
};

function row(label: string, effect: Effect, next: Fault['next'], passing: boolean): Fault {
  return { label, effect, next, passing };
}

/** What answers of a status mean unless a provider's own row says otherwise. The first that fits decides. */
export const usualFaults: readonly FaultRow[] = [
  { statuses: [400], pattern: /\b(?:model_not_found|unknown_model|invalid_model)\b/, kind: 'model' },
  { statuses: [401], kind: 'credential' },
  { statuses: [402], kind: 'billing' },
  {
    statuses: [403],
    pattern:
      /insufficient[ _](?:balance|credit|quota|funds)|not[ _]enough[ _]balance|balance is insufficient|out of credits|billing/i,
    kind: 'billing',
  },
  {
    statuses: [403],
    pattern:
      /(?:invalid|incorrect|revoked|expired|disabled|unknown)[^.]{0,20}(?:api[ _-]?key|token|credential)|(?:api[ _-]?key|token|credential)s?[^.]{0,30}(?:invalid|revoked|expired|disabled|not (?:valid|found))|authentication_error|unauthenticated/i,
    kind: 'credential',
  },
  { statuses: [403], pattern: /moderat|flagged|content[ _](?:policy|filter)|safety/i, kind: 'request' },
  { statuses: [403], kind: 'permission' },
  {
    statuses: [404],
    pattern: /\b(?:response|item|file|conversation)\b[^.]{0,200}\bnot found|previous_response/i,
    kind: 'request',
  },
  { statuses: [404, 410], pattern: /model|deployment|not_found_error/i, kind: 'model' },
  { statuses: [404, 405, 410], kind: 'path' },
  { statuses: [408, 504, 524], kind: 'timeout' },
  { statuses: [409, 425, 499], kind: 'busy' },
  {
    statuses: [429],
    pattern: /insufficient[ _](?:quota|balance|credit)|billing_hard_limit/i,
    kind: 'billing',
  },
  // What a plan allows for hours or days: https://docs.z.ai/api-reference/api-code
  { statuses: [429], pattern: /\busage limit reached\b/i, kind: 'quota' },
  { statuses: [429], pattern: /overloaded|at capacity|capacity exceeded/i, kind: 'overloaded' },
  { statuses: [429], kind: 'rate-limit' },
  { statuses: [503, 520, 522, 529], kind: 'overloaded' },
];

/** A failed attempt, as far as it was understood. */
export interface FailedAttempt {
  /** The gateway's own word for it; `upstream_error` where the upstream answered. */
  code: ErrorCode;
  /** What the upstream answered; null when it did not. */
  status: number | null;
  /** The error's type, code and message together. */
  errorText: string;
}

const kindOfCode: Partial<Readonly<Record<ErrorCode, FaultKind>>> = {
  upstream_unreachable: 'unreachable',
  upstream_cut: 'cut',
  upstream_timeout: 'timeout',
  upstream_protocol: 'protocol',
  upstream_redirect: 'path',
  connection_unusable: 'unusable',
  login_required: 'unusable',
  agent_busy: 'busy',
  agent_failed: 'server',
  credential_refresh_failed: 'unreachable',
  not_translatable: 'untranslatable',
  context_length_exceeded: 'context',
};

/** What a failure was, by the provider's own rows first. */
export function kindOf(failed: FailedAttempt, provider: Pick<Provider, 'faults'>): FaultKind {
  const { code, status } = failed;
  const named = kindOfCode[code];
  if (named !== undefined) return named;
  if (status === null || code !== 'upstream_error') return 'request';
  return (
    rowOf({ status, errorText: failed.errorText }, provider)?.kind ?? (status >= 500 ? 'server' : 'request')
  );
}

/** The row that an answer matches; null where there is none. */
export function rowOf(
  { errorText, status }: { errorText: string; status: number },
  { faults: own = [] }: Pick<Provider, 'faults'>,
): FaultRow | null {
  const fits = ({ pattern, statuses }: FaultRow) =>
    statuses.includes(status) && (pattern === undefined || pattern.test(errorText));
  return own.find(fits) ?? usualFaults.find(fits) ?? null;
}
