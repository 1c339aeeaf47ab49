import type { WireFormat } from '../../codecs/wire-format.ts';

/**
 * The parameters that belong to a format's API. Any other stays here: a caller's credential may stand in it.
 * `beta`: Anthropic's SDKs ask for their beta surface, and Claude Code for all messages, by `?beta=true`.
 */
const passedOn: ReadonlyMap<WireFormat, readonly string[]> = new Map([['anthropic-messages', ['beta']]]);

/**
 * An upstream's `path`, which may have a query of its own, with what of the caller's query belongs there.
 * @param query the caller's, without the `?`
 */
export function withQuery(path: string, query: string, format: WireFormat): string {
  const names = passedOn.get(format);
  if (names === undefined || query === '') return path;
  const kept = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => names.includes(name)));
  if (kept.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${kept}`;
}
