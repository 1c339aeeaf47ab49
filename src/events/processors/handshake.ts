import { setTimeout as delay } from 'node:timers/promises';
import type { HttpAnswer, HttpSender, NoAnswer } from './http-sender.ts';
import { outcomeOf } from './http-sender.ts';
import type { ProcessorOutcome } from './processor.ts';

export interface HandshakeInput {
  sender: HttpSender;
  url: string;
  /** The name under which the gateway asks, e.g. `gateway.example.com`. */
  origin: string;
  /** Events a minute that it asks for; it does not say when null. */
  ratePerMinute: number | null;
  /** Headers that open the receiver. */
  authorized: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Asks a receiver whether it wants events of this gateway, and how many (HTTP 1.1 Web Hooks for Event Delivery, section 4). */
export interface Handshake {
  /** Asks for consent where there is none. @returns null when there is, else what becomes of the event */
  consent(): Promise<ProcessorOutcome | null>;
  /** Waits as long as the allowed rate says. @returns false when it was told to stop */
  pace(stopping: AbortSignal): Promise<boolean>;
}

/** A consent is asked for anew after this time. */
const CONSENT_MS = 86_400_000;
const MINUTE_MS = 60_000;

interface Consent {
  readonly until: number;
  /** Events a minute; null for as many as the gateway has. */
  readonly perMinute: number | null;
}

export function createHandshake(input: HandshakeInput): Handshake {
  const { authorized, now, origin, ratePerMinute, sender, url } = input;
  let consent: Consent | null = null;
  let asking: Promise<Consent | ProcessorOutcome> | null = null;
  /** When the next event may go at the earliest, in milliseconds since the epoch. */
  let nextAt = 0;

  const ask = async (): Promise<Consent | ProcessorOutcome> => {
    const answer = await sender.send({
      method: 'OPTIONS',
      url,
      headers: {
        ...authorized,
        'webhook-request-origin': origin,
        ...(ratePerMinute === null ? {} : { 'webhook-request-rate': String(ratePerMinute) }),
      },
    });
    return consentOf(answer, input);
  };
  return {
    async consent() {
      if (consent !== null && now() < consent.until) return null;
      asking ??= ask().finally(() => {
        asking = null;
      });
      const answer = await asking;
      if ('kind' in answer) return answer;
      consent = answer;
      return null;
    },
    async pace(stopping) {
      const perMinute = consent?.perMinute ?? null;
      if (perMinute === null) return true;
      const at = Math.max(nextAt, now());
      nextAt = at + MINUTE_MS / perMinute;
      try {
        await delay(at - now(), undefined, { signal: stopping });
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** Consent is in the headers of the answer, whatever its status. */
function consentOf(answer: HttpAnswer | NoAnswer, input: HandshakeInput): Consent | ProcessorOutcome {
  const { now, origin, ratePerMinute } = input;
  if (answer.kind === 'unreached') return outcomeOf(answer, now());
  const allowed = answer.header('webhook-allowed-origin')?.trim().toLowerCase();
  if (allowed !== '*' && allowed !== origin.toLowerCase()) {
    if (answer.status === 410) return outcomeOf(answer, now());
    const reason = `The receiver does not allow events of ${origin}`;
    // It may be told to, or be restarting.
    return { kind: 'retry', reason, status: answer.status, afterMs: MINUTE_MS };
  }
  const rate = answer.header('webhook-allowed-rate')?.trim() ?? '*';
  const perMinute = /^[1-9]\d{0,8}$/.test(rate) ? Number(rate) : ratePerMinute;
  return { until: now() + CONSENT_MS, perMinute: rate === '*' ? null : perMinute };
}
