import { withoutTrailing } from '../../lib/trailing.ts';
import { type Finding, fail, ok, unchecked, warn } from './check.ts';
import { type DryRunAnswer, type DryRunTarget, dryRunAnswer } from './dry-run.ts';

/** What answered a request. */
export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  text: string;
}

/** What the answer to a dry run says of the way to the model. */
export interface Route {
  address: Finding;
  key: Finding;
  model: Finding;
  translation: Finding;
  /** Null where the gateway did not get as far as to plan the request. */
  answer: DryRunAnswer | null;
}

/** An error that the gateway answers, in any dialect. */
interface Refusal {
  code: string | null;
  message: string;
}

const after = (what: string): Finding => unchecked(`it needs the ${what} first`);

/** @param url that was asked @param bytes of the first request that the tool sends */
export function routeFrom(url: string, { status, text }: HttpAnswer, bytes: number): Route {
  const reached = ok(`${url} answers`);
  const later = { model: after('key'), translation: after('key'), answer: null };
  if (status === 401) return { address: reached, key: fail(`${sentence(refusalIn(text))}`), ...later };
  const read = dryRunAnswer.safeParse(parsed(text));
  const key = ok('the gateway takes it');
  if (status === 200 && read.success)
    return { address: reached, key, ...ofTargets(read.data, bytes), answer: read.data };
  const refusal = refusalIn(text);
  if (status === 200 || refusal.code === null)
    return { address: fail(strange(url, status)), key: after('address'), ...later };
  const model = fail(`${sentence(refusal)} ${adviceFor(refusal.code)}`.trimEnd());
  return { address: reached, key, model, translation: after('model'), answer: null };
}

/** Nothing answered. */
export function unreachedRoute(url: string, reason: string): Route {
  const address = fail(`nothing answers at ${url} (${reason}): start the gateway with \`gateway serve\``);
  const later = after('gateway');
  return { address, key: later, model: later, translation: later, answer: null };
}

function strange(url: string, status: number): string {
  return status === 200
    ? `${url} answered the request itself: it is not a gateway that supports dry runs`
    : `${url} answered ${status}, and not as a gateway does: is the address right?`;
}

const advice: Readonly<Record<string, string>> = {
  model_not_allowed: 'Give a key that may use it, or another model.',
  no_combo_configured: 'Make a combo, or name a model.',
  format_not_supported: 'Choose a model whose provider can be asked for conversations.',
};

function adviceFor(code: string): string {
  return advice[code] ?? '';
}

function ofTargets(answer: DryRunAnswer, bytes: number): Pick<Route, 'model' | 'translation'> {
  const { model, skipped, targets } = answer;
  const [first] = targets;
  const passed = skipped.map((one) => `${one.connection}/${one.model} (${withoutTrailing(one.detail, '.')})`);
  const beside = passed.length === 0 ? '' : `; passed over: ${passed.join(', ')}`;
  const names = targets.map(nameOf).join(', then ');
  const reached = `"${model}" leads to ${names}${beside}`;
  const size = `a request of ${Math.round(bytes / 1000)} kB, as the tool begins with,`;
  const tooSmall = skipped.some(({ reason }) => reason === 'context');
  const contextCheck = tooSmall
    ? warn(`${reached}. Not every model takes ${size.replace(/,$/, '')}`)
    : ok(reached);
  return { model: first === undefined ? fail(reached) : contextCheck, translation: ofTranslation(targets) };
}

function ofTranslation(targets: readonly DryRunTarget[]): Finding {
  const [first] = targets;
  const lines = targets.flatMap(lossOf);
  if (first?.error) return fail(lines.join('; '));
  if (lines.length > 0) return warn(lines.join('; '));
  const same = targets.every(({ relayed }) => relayed);
  return ok(
    same
      ? 'the request passes as it is: the model speaks the format of the tool'
      : 'everything that the tool says is carried over',
  );
}

/** What a target would not be sent, in one sentence; none where it gets everything. */
function lossOf(target: DryRunTarget): string[] {
  const { added, dropped, error, format, lowered } = target;
  const name = `${nameOf(target)} (${format})`;
  if (error !== null)
    return [`${name} cannot be asked: ${error.message}${error.param === null ? '' : ` (${error.param})`}`];
  const losses = [
    ...(dropped.length === 0 ? [] : [`is not sent ${dropped.join(', ')}`]),
    ...(lowered === null ? [] : [`gets ${lowered}`]),
    ...(added === null ? [] : ['gets a turn of the user that the tool did not write']),
  ];
  return losses.length === 0 ? [] : [`${name} ${losses.join(', and ')}`];
}

function nameOf({ connection, model }: DryRunTarget): string {
  return `${connection}/${model}`;
}

function sentence({ message }: Refusal): string {
  return `${withoutTrailing(message.trimEnd(), '.')}.`;
}

/** The error of an answer. The dialects differ in where its code stands, and some have none. */
export function refusalIn(text: string): Refusal {
  const body = parsed(text);
  const error = isObject(body) ? body['error'] : null;
  if (typeof error === 'string') return { code: 'error', message: error };
  if (!isObject(error) || typeof error['message'] !== 'string')
    return { code: null, message: 'The answer names no reason' };
  const code = [error['code'], error['type'], error['status']].find((one) => typeof one === 'string');
  return { code: typeof code === 'string' ? code : 'error', message: error['message'] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
