import type { WireFormat } from '../../codecs/wire-format.ts';

/**
 * The parameters that belong to a format's API. Any other stays here: a client's credential may stand in it.
 * `beta`: Anthropic's SDKs ask for their beta surface, and Claude Code for all messages, by `?beta=true`.
 */
const forwardedParameters: ReadonlyMap<WireFormat, readonly string[]> = new Map([
  ['anthropic-messages', ['beta']],
]);

/**
 * An upstream's `path`, which may have a query of its own, with what of the client's query belongs there.
 * @param query the client's, without the `?`
 */
export function withQuery(path: string, query: string, format: WireFormat): string {
  const names = forwardedParameters.get(format);
  if (names === undefined || query === '') return path;
  const forwarded = new URLSearchParams(
    [...new URLSearchParams(query)].filter(([name]) => names.includes(name)),
  );
  if (forwarded.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${forwarded}`;
}
