import { codecOf } from '../codecs/index.ts';
import type { WireFormat } from '../codecs/model.ts';
import type { OpenConnection } from '../connections/schema.ts';
import { GatewayError } from '../lib/error.ts';
import type { Provider } from '../providers/provider.ts';

/** One model at one connection: where a request may be sent. */
export interface Target {
  connection: OpenConnection;
  provider: Provider;
  /** The model id that the upstream knows. */
  model: string;
  /** The wire format in which the provider is asked: the caller's own where it speaks that, else one to translate into. */
  format: WireFormat;
}

/** An active connection with its provider's data, in the order in which it is preferred. */
export interface Route {
  connection: OpenConnection;
  provider: Provider;
}

export interface Routes {
  /** Highest priority first. */
  ordered: readonly Route[];
  byName: ReadonlyMap<string, Route>;
  byProvider: ReadonlyMap<string, readonly Route[]>;
  /** True when the provider's catalogue knows this model id. */
  knows: (provider: Provider, model: string) => boolean;
  /** True for the id of any provider of the catalogue, connected or not. */
  isProvider: (id: string) => boolean;
}

/**
 * The targets of a requested model id, best first, limited to those that speak `format` or one it can be translated to.
 * `connection/model` and `provider/model` are final; a bare id goes to the connection with the highest
 * priority that lists it, then to one whose provider's catalogue knows it.
 * @throws GatewayError `no_combo_configured`, `model_not_found`, `format_not_supported`
 */
export function resolveTargets(requested: string, format: WireFormat, routes: Routes): Target[] {
  if (requested === 'auto') {
    throw new GatewayError(
      'no_combo_configured',
      'No combo is active, so "auto" has no meaning yet: name a model such as demo/echo, or set up a combo at /dashboard/combos',
      { param: 'model' },
    );
  }
  const candidates = candidatesOf(requested, routes);
  const speaking = candidates.flatMap((candidate) => {
    const spoken = spokenFormat(candidate.provider, format);
    return spoken === null ? [] : [{ ...candidate, format: spoken }];
  });
  const first = candidates[0];
  if (speaking.length === 0 && first !== undefined) {
    throw new GatewayError('format_not_supported', mismatch(requested, format, first), { param: 'model' });
  }
  return speaking;
}

/** Formats to translate into, the one that says most and is served best first. */
const translations: readonly WireFormat[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'ollama',
  'openai-completions',
];

/** The format in which `provider` answers a request of `format`; null when nothing leads from one to the other. */
function spokenFormat(provider: Provider, format: WireFormat): WireFormat | null {
  const speaks = (candidate: WireFormat) => provider.formats[candidate] !== undefined;
  if (speaks(format)) return format;
  if (codecOf(format).conversation === null) return null;
  const { preferred } = provider;
  const order = preferred === undefined ? translations : [preferred, ...translations];
  return order.find((other) => speaks(other) && codecOf(other).conversation !== null) ?? null;
}

type Candidate = Omit<Target, 'format'>;

function candidatesOf(requested: string, routes: Routes): Candidate[] {
  const slash = requested.indexOf('/');
  if (slash > 0) {
    const prefix = requested.slice(0, slash);
    const model = requested.slice(slash + 1);
    const named = routes.byName.get(prefix);
    if (named !== undefined) return [{ ...named, model }];
    const ofProvider = routes.byProvider.get(prefix);
    if (ofProvider !== undefined) return ofProvider.map((route) => ({ ...route, model }));
    if (routes.isProvider(prefix)) {
      throw new GatewayError(
        'model_not_found',
        `No connection to the provider "${prefix}" exists: add one with \`gateway provider add ${prefix}\``,
        { param: 'model' },
      );
    }
    // Claude Code's model picker only shows ids that contain "claude", so every model is also listed below it.
    if (prefix === 'claude') return candidatesOf(model, routes);
  }
  const listed = routes.ordered.filter((route) => lists(route.connection, requested));
  const known = routes.ordered.filter(
    (route) => !lists(route.connection, requested) && routes.knows(route.provider, requested),
  );
  const found = [...listed, ...known].map((route) => ({ ...route, model: requested }));
  if (found.length > 0) return found;
  throw new GatewayError(
    'model_not_found',
    `No connection offers the model "${printable(requested)}": \`gateway models\` and GET /v1/models list what can be asked for, as connection/model`,
    { param: 'model' },
  );
}

function lists(connection: OpenConnection, model: string): boolean {
  return connection.defaultModel === model || (connection.models?.includes(model) ?? false);
}

function mismatch(requested: string, format: WireFormat, target: Candidate): string {
  const spoken = Object.keys(target.provider.formats).join(', ');
  return (
    `"${printable(requested)}" is served by ${target.provider.name} (connection "${target.connection.name}"), ` +
    `which speaks ${spoken}; this request is ${format}. Choose a model of a provider that speaks ${format}, ` +
    'or send the request in one of those formats'
  );
}

/** Caller-made text, made safe to repeat in an error: control characters out, length bounded. */
function printable(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
}
