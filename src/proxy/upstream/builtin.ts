import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { demoAnswer } from '../../providers/demo/respond.ts';
import type { Upstream } from './attempt.ts';

/**
 * The demo provider as an upstream without a socket: it answers through the same handler calls as undici, so
 * that a demo request takes the very path of a real one.
 */
export function builtinUpstream(format: WireFormat, now: () => number): Upstream {
  return {
    dispatch(options, handler) {
      const body = bodyOf(options.body);
      // Asynchronous like a socket, so that the caller has finished setting up.
      setImmediate(() => play(format, body, handler, now));
      return true;
    },
  };
}

function bodyOf(body: Dispatcher.DispatchOptions['body']): Buffer {
  if (Buffer.isBuffer(body)) return body;
  // Attempts hand over one buffer or an iterable of them.
  return Buffer.concat([...(body as Iterable<Buffer>)]);
}

interface Player extends Dispatcher.DispatchController {
  onResume: (() => void) | null;
}

function play(
  format: WireFormat,
  body: Buffer,
  handler: Dispatcher.DispatchHandler,
  now: () => number,
): void {
  const controller = createPlayer();
  handler.onRequestStart?.(controller, {});
  if (controller.aborted) return;
  const answer = demoAnswer(format, body, now());
  const headers: IncomingHttpHeaders = { 'content-type': answer.contentType };
  handler.onResponseStart?.(controller, answer.status, headers);
  let next = 0;
  const step = () => {
    if (controller.aborted) return;
    if (controller.paused) {
      controller.onResume = step;
      return;
    }
    const chunk = answer.chunks[next];
    next += 1;
    if (chunk === undefined) {
      handler.onResponseEnd?.(controller, {});
      return;
    }
    handler.onResponseData?.(controller, chunk);
    if (answer.gapMs > 0 && next < answer.chunks.length) setTimeout(step, answer.gapMs);
    else setImmediate(step);
  };
  step();
}

function createPlayer(): Player {
  let aborted = false;
  let paused = false;
  let reason: Error | null = null;
  return {
    onResume: null,
    get aborted() {
      return aborted;
    },
    get paused() {
      return paused;
    },
    get reason() {
      return reason;
    },
    abort(error: Error) {
      aborted = true;
      reason = error;
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      const resume = this.onResume;
      this.onResume = null;
      resume?.();
    },
  };
}
