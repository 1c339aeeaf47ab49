import type { Readable } from 'node:stream';
import { withoutSecretForms, withoutSecrets } from '../../lib/secrets/secrets.ts';

/** Lines that are kept, and characters of each. */
const MAX_LINES = 200;
const MAX_LINE = 1000;

/** The last lines that an agent printed beside its messages, without secrets. */
export interface OutputTail {
  add(line: string): void;
  lines(): readonly string[];
}

/** @param secrets texts that are left out */
export function createOutputTail(secrets: readonly string[]): OutputTail {
  const lines: string[] = [];
  return {
    add(line) {
      const text = redacted(line, secrets).slice(0, MAX_LINE).trimEnd();
      if (text === '') return;
      lines.push(text);
      if (lines.length > MAX_LINES) lines.shift();
    },
    lines: () => lines,
  };
}

/** Passes on the lines of a stream, a very long one in pieces. */
export function readLines(stream: Readable, tell: (line: string) => void): void {
  let pending = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (pending + chunk).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) tell(line);
    if (pending.length > MAX_LINE * 4) {
      tell(pending);
      pending = '';
    }
  });
  stream.on('end', () => tell(pending));
}

/** A text without the given secrets, and without what looks like one. */
export function redacted(text: string, secrets: readonly string[]): string {
  return withoutSecretForms(withoutSecrets(text, secrets));
}
