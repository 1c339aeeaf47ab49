import type { Principal } from '../../access/authenticate.ts';
import { allowsModel, allowsName } from '../../access/keys/allowed-models.ts';
import { codecOf } from '../../codecs/index.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Condition, HealthView } from '../../health/health-view.ts';
import { GatewayError } from '../../lib/error.ts';
import type { CandidatesByFormat, FormatCandidate } from '../pool/candidates-by-format.ts';
import type { Candidate } from '../pool/pool.ts';
import type { Skip, SkipReason } from '../trace.ts';
import type { RequestFeatures } from './request-features.ts';
import { printable } from './resolve.ts';

export interface FilterInput {
  requested: string;
  /** The combos and aliases that led to the candidates: a key that names one of them may use these. */
  names: readonly string[];
  format: WireFormat;
  principal: Principal;
  features: RequestFeatures;
  healthView: HealthView;
}

/** What is left of the candidates, at least one. */
export interface FilteredCandidates {
  ready: readonly FormatCandidate[];
  /** Those that wait for something, the soonest first. They are not skipped yet: the attempts look again. */
  waiting: readonly FormatCandidate[];
}

/**
 * Takes out what cannot serve a request, each with its reason in `skipped`. What is known of models is not enough to
 * refuse a request, so when no candidate would be left for lack of an ability, none is removed for it.
 * @throws GatewayError `format_not_supported`, `model_not_allowed`
 */
export function filterCandidates(
  { places, pool }: CandidatesByFormat,
  input: FilterInput,
  skipped: Skip[],
): FilteredCandidates {
  const [first] = pool.candidates;
  if (places.length === 0 && first !== undefined)
    throw new GatewayError('format_not_supported', mismatch(input, first), { param: 'model' });
  return readyOf(ableOf(allowedOf(places, input, skipped), input, skipped), input.healthView);
}

function allowedOf(
  places: readonly FormatCandidate[],
  input: FilterInput,
  skipped: Skip[],
): readonly FormatCandidate[] {
  const { principal, requested } = input;
  if (principal.models === null) return places;
  const allowed = places.filter(({ candidate }) => {
    const may = allowsCandidate(principal, input, candidate);
    if (!may) skipped.push(skip(candidate, 'key', `The key "${principal.name}" may not use it`));
    return may;
  });
  if (allowed.length > 0) return allowed;
  throw new GatewayError(
    'model_not_allowed',
    `The key "${principal.name}" may not use the model "${printable(requested)}"`,
    { param: 'model' },
  );
}

/**
 * Whether a key may use a candidate: by what the candidate runs, or because the key's owner named a combo or an alias
 * that led to it.
 */
export function allowsCandidate(
  { models }: Principal,
  { names }: Pick<FilterInput, 'names'>,
  { connection, model, provider }: Candidate,
): boolean {
  if (models === null || names.some((name) => allowsName(models, name))) return true;
  return allowsModel(models, { connection: connection.name, provider: provider.id, model });
}

/** Without those that are known to lack what the request needs, if any other is there. */
function ableOf(
  remaining: readonly FormatCandidate[],
  input: FilterInput,
  skipped: Skip[],
): readonly FormatCandidate[] {
  if (remaining.length < 2) return remaining;
  const lacking: Skip[] = [];
  const able = remaining.filter((one) => {
    const lack = lackOf(one, input);
    if (lack !== null) lacking.push(lack);
    return lack === null;
  });
  if (able.length === 0 || lacking.length === 0) return remaining;
  skipped.push(...lacking);
  return able;
}

function lackOf({ candidate, target }: FormatCandidate, { format, features }: FilterInput): Skip | null {
  const { images, tools } = candidate.abilities();
  const says = target.format === format ? null : (codecOf(target.format).conversation?.names ?? null);
  if ((tools === false || (says !== null && says.tools === undefined)) && features.tools())
    return skip(candidate, 'tools', 'The request has tools, and the model takes none');
  if ((images === false || (says !== null && says.imageInput === undefined)) && features.images())
    return skip(candidate, 'images', 'The request has an image, and the model takes none');
  const contextWindow = candidate.facts?.contextWindow ?? null;
  if (contextWindow === null || features.maxTokens <= contextWindow) return null;
  const tokens = features.tokens();
  if (tokens === null || tokens <= contextWindow) return null;
  const detail = `The request has about ${tokens} tokens, and the model takes ${contextWindow}`;
  return skip(candidate, 'context', detail);
}

function readyOf(remaining: readonly FormatCandidate[], healthView: HealthView): FilteredCandidates {
  const ready: FormatCandidate[] = [];
  const waiting: { one: FormatCandidate; at: number }[] = [];
  for (const one of remaining) {
    const condition = healthView.conditionOf(one.connectionId, one.model);
    if (condition.state === 'ready') ready.push(one);
    else waiting.push({ one, at: readyAt(condition) });
  }
  if (waiting.length === 0) return { ready, waiting: [] };
  waiting.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at));
  return { ready, waiting: waiting.map(({ one }) => one) };
}

/**
 * When an account may be asked again; at once where a request on its way will show it, never where its owner has to act.
 */
function readyAt(condition: Exclude<Condition, { state: 'ready' }>): number {
  switch (condition.state) {
    case 'cooling':
    case 'exhausted':
      return condition.until;
    case 'probing':
      return 0;
    case 'needs-attention':
      return Number.POSITIVE_INFINITY;
  }
}

function skip(candidate: Candidate, reason: SkipReason, detail: string): Skip {
  return { ...candidate.name, reason, detail };
}

function mismatch({ format, requested }: FilterInput, { connection, provider }: Candidate): string {
  const formats = Object.keys(provider.formats).join(', ');
  return (
    `"${printable(requested)}" is served by ${provider.name} (connection "${connection.name}"), ` +
    `which speaks ${formats}; this request is ${format}. Choose a model of a provider that speaks ${format}, ` +
    'or send the request in one of those formats'
  );
}
