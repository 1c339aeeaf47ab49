import { createHash } from 'node:crypto';
import type { FailedAttempt } from '../channels/failed-attempt.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { LetterFacts } from './letter-calls.ts';

/** An event that a trigger could not bring to its processor. */
export interface DeadLetter extends LetterFacts {
  /** Names it among all dead letters. */
  readonly id: string;
  /** The event as it was; null when its bytes are damaged. */
  readonly event: CloudEvent | null;
}

const LONGEST_ERROR = 1_024;

/** Errors may quote what a receiver answered. */
export const shortError = (error: string): string => error.slice(0, LONGEST_ERROR);

/** The event, unchanged but for the extensions that tell why nobody got it. */
export function withReason({ attributes, data }: CloudEvent, facts: LetterFacts): CloudEvent {
  const { at, attempts, channel, error, failures, reason, status, trigger } = facts;
  return {
    attributes: {
      ...attributes,
      dlreason: reason,
      dltrigger: trigger,
      dlchannel: channel,
      dlattempts: attempts,
      ...(status === null ? {} : { dlstatus: status }),
      dlerror: shortError(error),
      dltime: new Date(at).toISOString(),
      ...(failures.length === 0 ? {} : { dlfailures: failuresAttribute(failures) }),
    },
    data,
  };
}

/** What attributes of all queues have room for. */
const LONGEST_FAILURES = 2_048;

/** The failed attempts as JSON: the first and the latest of them, as many as fit. */
function failuresAttribute(failures: readonly FailedAttempt[]): string {
  const shown = failures.map(({ at, ...failure }) => ({ ...failure, time: new Date(at).toISOString() }));
  while (shown.length > 1 && JSON.stringify(shown).length > LONGEST_FAILURES) shown.splice(1, 1);
  return JSON.stringify(shown);
}

/**
 * An event around bytes that are none, so that they can be kept and read like other dead letters. The same message has the same
 * id, however often it comes.
 */
export function wrapBytes(channel: string, delivery: string, bytes: Uint8Array): CloudEvent {
  const digest = createHash('sha256')
    .update(JSON.stringify([channel, delivery]))
    .update(bytes)
    .digest('hex');
  return {
    attributes: {
      specversion: '1.0',
      id: digest.slice(0, 32),
      source: `/channels/${encodeURIComponent(channel)}`,
      type: 'io.modelgate.event.undecodable.v1',
      datacontenttype: 'application/octet-stream',
    },
    data: bytes,
  };
}
