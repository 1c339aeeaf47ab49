/** The first character that is not white space or a byte order mark; '' when there is none yet. */
export function firstCharacter(chunk: Buffer): string {
  for (const byte of chunk) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    if (byte === 0xef || byte === 0xbb || byte === 0xbf) continue;
    return String.fromCharCode(byte);
  }
  return '';
}

/** What an answer is, by its first character: upstreams mislabel streams and JSON alike. */
export function shapeOf(chunk: Buffer): 'unknown' | 'stream' | 'whole' {
  const first = firstCharacter(chunk);
  if (first === '') return 'unknown';
  return '{[<'.includes(first) ? 'whole' : 'stream';
}
