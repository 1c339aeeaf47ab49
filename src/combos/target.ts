import { codecOf, codecs } from '../codecs/index.ts';
import type { WireFormat } from '../codecs/wire-format.ts';
import type { OpenConnection } from '../connections/schema.ts';
import type { Provider } from '../providers/provider.ts';
import type { TargetName } from './trace.ts';

/** One model at one connection: where a request may be sent. */
export interface Target {
  connection: OpenConnection;
  provider: Provider;
  /** The upstream's model id. */
  model: string;
  /** The wire format in which the provider is asked: the client's own where it speaks that, else one to translate into. */
  format: WireFormat;
  /** The most tokens that the catalogue says the model writes. */
  outputLimit?: number;
  /** True when the catalogue says that the model is no longer offered to new clients. */
  deprecated?: boolean;
  /** Ids of the combos within the one that was asked for on the way to it, the outermost first; absent where there is none. */
  innerCombos?: readonly string[];
}

export function nameOf({ connection, model, provider }: Omit<Target, 'format'>): TargetName {
  return { connectionId: connection.id, connection: connection.name, provider: provider.id, model };
}

/** Formats to translate into, the preferred one first. */
const translations: readonly WireFormat[] = codecs
  .filter(({ conversation }) => conversation !== null)
  .map(({ format }) => format);

/**
 * The format in which `provider` answers a request of `format`; null when nothing leads from one to the other.
 * @param only the one format in which it serves the model, where it does not serve all models alike
 */
export function answeredFormat(
  provider: Provider,
  format: WireFormat,
  only: WireFormat | null = null,
): WireFormat | null {
  if (only !== null && codecOf(format).conversation !== null)
    return provider.formats[only] === undefined ? null : only;
  if (provider.formats[format] !== undefined) return format;
  if (codecOf(format).conversation === null) return null;
  const { preferred } = provider;
  const order = preferred === undefined ? translations : [preferred, ...translations];
  return (
    order.find((other) => provider.formats[other] !== undefined && codecOf(other).conversation !== null) ??
    null
  );
}
