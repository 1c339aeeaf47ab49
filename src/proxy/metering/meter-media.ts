import type { MediaAnswer } from '../../codecs/passthrough/media.ts';
import { joined } from '../json/joined.ts';
import { Tap } from './meter.ts';

const HEAD_BYTES = 1_024;
const TAIL_BYTES = 65_536;

/** Remembers of a passing answer what its codec can read use from: the two ends, and how often some fields occur. */
export class MediaMeter {
  readonly #kind: MediaAnswer['kind'];
  readonly #names: NameCounter[];
  readonly #events = new Tap('sse');
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;

  constructor(kind: MediaAnswer['kind'], counted: readonly string[]) {
    this.#kind = kind;
    this.#names = kind === 'json' ? counted.map((name) => new NameCounter(name)) : [];
  }

  push(chunk: Buffer): void {
    if (this.#kind === 'other') return;
    if (this.#kind === 'events') {
      this.#events.push(chunk);
      return;
    }
    for (const name of this.#names) name.push(chunk);
    if (this.#headBytes < HEAD_BYTES) {
      this.#head.push(chunk);
      this.#headBytes += chunk.length;
    }
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= TAIL_BYTES) {
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    }
  }

  /** What passed, once all of it did. */
  answer(): MediaAnswer {
    const counted = Math.max(0, ...this.#names.map(({ count }) => count));
    if (this.#kind === 'events')
      return { kind: 'events', head: this.#events.head(), tail: this.#events.tail(), counted };
    return { kind: this.#kind, head: joined(this.#head), tail: joined(this.#tail), counted };
  }
}

/** White space between a key and its value, at most. */
const MAX_GAP = 64;

/** Counts the fields of one name that have a text as their value. Inside a text the name's quotes are escaped. */
class NameCounter {
  count = 0;
  readonly #key: Buffer;
  /** The end of what was seen, in which a field may have begun. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(name: string) {
    this.#key = Buffer.from(`"${name}"`);
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = bytes.indexOf(this.#key);
    while (at !== -1) {
      const value = bytes.toString('latin1', at + this.#key.length, at + this.#key.length + MAX_GAP);
      const cut = value.length < MAX_GAP && /^\s*(?::\s*)?$/.test(value);
      if (cut) {
        this.#rest = bytes.subarray(at);
        return;
      }
      if (/^\s*:\s*"/.test(value)) this.count += 1;
      at = bytes.indexOf(this.#key, at + this.#key.length);
    }
    this.#rest = bytes.subarray(Math.max(0, bytes.length - this.#key.length + 1));
  }
}
