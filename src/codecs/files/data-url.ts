import type { Source } from '../model/conversation.ts';

/** A data URL (RFC 2397) as its bytes, any other as it is. */
export function sourceOfUrl(url: string): Exclude<Source, { kind: 'file' }> {
  const data = /^data:([^;,]*)(?:;[^,]*)?;base64,/.exec(url);
  if (data === null) return { kind: 'url', url };
  return { kind: 'data', mediaType: data[1] ?? '', base64: url.slice(data[0].length) };
}

/** The URL of a source; null for a file that was uploaded to a vendor. */
export function urlOfSource(source: Source): string | null {
  if (source.kind === 'url') return source.url;
  return source.kind === 'data' ? `data:${source.mediaType};base64,${source.base64}` : null;
}
