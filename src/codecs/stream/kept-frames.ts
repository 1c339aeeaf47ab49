import type { Frame } from '../../lib/sse.ts';
import type { FrameEncoder } from '../model/stream-part.ts';
import { ValueFrame } from './frames.ts';

/**
 * The frames of an answer that leaves whole. They go from a writer to whoever puts the answer together as the values
 * that they carry: nothing is written as text only to be read again.
 */
export class KeptFrames {
  readonly #frames: Frame[] = [];

  /** For a writer: what it takes for a frame's text is a name of the frame that is kept. */
  readonly encode: FrameEncoder = (event, data) => {
    this.#frames.push(typeof data === 'string' ? { event, data } : new ValueFrame(event, data));
    return `${this.#frames.length - 1} `;
  };

  /** The frames that a writer's text names, in its order. */
  namedIn(text: string): Frame[] {
    const names = text.split(' ');
    names.pop();
    return names.flatMap((name) => this.#frames[Number(name)] ?? []);
  }
}
