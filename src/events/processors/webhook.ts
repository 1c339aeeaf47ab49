import { createHash } from 'node:crypto';
import type { Listening } from '../../http/outbound/outbound.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { encodeHttp } from '../cloudevents/http.ts';
import type { ConsentCallbacks } from './consent-callbacks.ts';
import { createHandshake, type Handshake } from './handshake.ts';
import { createHttpSender, outcomeOf } from './http-sender.ts';
import type { EventProcessor, ProcessorOutcome } from './processor.ts';
import { signatureHeaders } from './signature.ts';

const TIMEOUT_MS = 10_000;

/** Where webhooks go, and how. Without references any more: it may hold secrets, so no message repeats it. */
export interface WebhookTarget {
  readonly url: string;
  /** Default `binary`. */
  readonly mode?: 'binary' | 'structured';
  /** The header `Authorization`; none when null or absent. */
  readonly authorization?: string | null;
  /** How this gateway names itself when it asks whether it may send; it does not ask when null or absent. */
  readonly origin?: string | null;
  /** The public address of this gateway, at which the receiver may consent later; it has to at once when null or absent. */
  readonly callback?: string | null;
  /** Events a minute that it asks for. */
  readonly ratePerMinute?: number | null;
  /** Default 10,000. */
  readonly timeoutMs?: number;
}

export interface WebhookInput extends WebhookTarget {
  /** The id of the trigger. */
  trigger: string;
  key: Buffer | null;
  /** Where receivers consent later; absent where none may. */
  consents?: Pick<ConsentCallbacks, 'open'>;
  listening: Listening;
  privateNetworks: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Posts each event to a receiver. Redirects are not followed, and addresses that `outbound.ts` refuses are not connected to,
 * whatever name leads there.
 */
export function createWebhook(input: WebhookInput): EventProcessor {
  const { key, mode = 'binary', now, origin = null, timeoutMs = TIMEOUT_MS, trigger, url } = input;
  const {
    authorization = null,
    callback = null,
    consents,
    listening,
    privateNetworks,
    ratePerMinute = null,
  } = input;
  const sender = createHttpSender({ listening, privateNetworks, timeoutMs });
  const authorized: Record<string, string> = authorization === null ? {} : { authorization };
  const consent =
    origin === null || callback === null || consents === undefined
      ? null
      : consents.open(trigger, (allowedRate) => handshake?.grant(allowedRate));
  const callbackUrl = consent === null || callback === null ? null : new URL(consent.path, callback).href;
  const handshake: Handshake | null =
    origin === null
      ? null
      : createHandshake({ sender, url, origin, callbackUrl, ratePerMinute, authorized, now });
  return {
    ...(handshake === null ? {} : { ready: handshake.pace }),
    async process(event): Promise<ProcessorOutcome> {
      const refusal = (await handshake?.consent()) ?? null;
      if (refusal !== null) return refusal;
      const { body, headers } = encodeHttp(event, mode);
      const bytes = body ?? Buffer.alloc(0);
      const answer = await sender.send({
        method: 'POST',
        url,
        headers: {
          ...headers,
          ...authorized,
          ...(origin === null ? {} : { 'webhook-request-origin': origin }),
          ...signatureHeaders(key, idOf(trigger, event), bytes, now()),
        },
        body: bytes,
      });
      return outcomeOf(answer, now());
    },
    close() {
      consent?.close();
      return sender.close();
    },
  };
}

/** The same for each attempt to bring one event to one trigger, and for no other. */
function idOf(trigger: string, { attributes: { id, source } }: CloudEvent): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([trigger, source, id]))
    .digest('base64url');
  return `msg_${digest.slice(0, 32)}`;
}
