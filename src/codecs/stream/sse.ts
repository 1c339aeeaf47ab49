import { splitFrames } from '../../lib/sse.ts';
import type { StreamCodec } from '../codec.ts';

/** What the streams of all formats in server-sent events have in common. */
export const sseFraming: Pick<StreamCodec, 'contentType' | 'framing' | 'split' | 'byDefault'> = {
  contentType: 'text/event-stream; charset=utf-8',
  framing: 'sse',
  split: splitFrames,
  byDefault: false,
};
