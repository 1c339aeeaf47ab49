import { codecOf } from '../../codecs/index.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';

/**
 * An upstream's `path`, which may have a query of its own, with what of the client's query belongs there.
 * @param query the client's, without the `?`
 */
export function withQuery(path: string, query: string, format: WireFormat): string {
  // Any other stays here: a client's credential may stand in it.
  const names = codecOf(format).queryParameters;
  if (names === undefined || query === '') return path;
  const forwarded = new URLSearchParams(
    [...new URLSearchParams(query)].filter(([name]) => names.includes(name)),
  );
  if (forwarded.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${forwarded}`;
}
