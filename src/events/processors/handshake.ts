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
  /** Where the receiver may consent later; null: it has to at once. */
  callbackUrl: string | null;
  /** Headers that open the receiver. */
  authorized: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Asks a receiver whether it wants events of this gateway, and how many (HTTP 1.1 Web Hooks for Event Delivery, section 4). */
export interface Handshake {
  /** Asks for consent where there is none. @returns null when there is, else what becomes of the event */
  consent(): Promise<ProcessorOutcome | null>;
  /**
   * Waits for a receiver that may consent later, and as long as the allowed rate says.
   * @returns false when it was told to stop
   */
  pace(stopping: AbortSignal): Promise<boolean>;
  /** The receiver consents by its callback. @param allowedRate as in the header `WebHook-Allowed-Rate` */
  grant(allowedRate: string | null): void;
}

/** A consent is asked for anew after this time. */
const CONSENT_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** How soon a receiver is asked again that may consent later. */
const ASK_AGAIN_MS = 3_600_000;

interface Consent {
  readonly until: number;
  /** Events a minute; null for as many as the gateway has. */
  readonly perMinute: number | null;
}

export function createHandshake(input: HandshakeInput): Handshake {
  const { authorized, callbackUrl, now, origin, ratePerMinute, sender, url } = input;
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
        ...(callbackUrl === null ? {} : { 'webhook-request-callback': callbackUrl }),
      },
    });
    return consentOf(answer, input);
  };
  const hasConsent = () => consent !== null && now() < consent.until;
  /** @returns null when there is consent, else what becomes of the event */
  const askOnce = async (): Promise<ProcessorOutcome | null> => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    const answer = await asking;
    // It may have come by the callback meanwhile.
    if (hasConsent()) return null;
    if ('kind' in answer) return answer;
    consent = answer;
    return null;
  };
  /** Those who wait for a consent by the callback. */
  const waiters = new Set<() => void>();
  let askAgainAt = 0;
  /** @returns false when it was told to stop */
  const waitForCallback = async (stopping: AbortSignal): Promise<boolean> => {
    while (!hasConsent() && !stopping.aborted) {
      if (now() >= askAgainAt) {
        const outcome = await askOnce();
        // One that is not there, or wants no events, is reported as such.
        if (outcome === null || outcome.kind !== 'retry' || outcome.status === null || outcome.status >= 500)
          return true;
        askAgainAt = now() + ASK_AGAIN_MS;
      }
      await untilWoken(waiters, askAgainAt - now(), stopping);
    }
    return !stopping.aborted;
  };
  return {
    consent: async () => (hasConsent() ? null : askOnce()),
    grant(allowedRate) {
      consent = consentFor(allowedRate, input);
      for (const wake of waiters) wake();
    },
    async pace(stopping) {
      if (callbackUrl !== null && !(await waitForCallback(stopping))) return false;
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
  const { now, origin } = input;
  if (answer.kind === 'unreached') return outcomeOf(answer, now());
  const allowed = answer.header('webhook-allowed-origin')?.trim().toLowerCase();
  if (allowed !== '*' && allowed !== origin.toLowerCase()) {
    if (answer.status === 410) return outcomeOf(answer, now());
    const reason = `The receiver does not allow events of ${origin}`;
    // It may be told to, or be restarting.
    return { kind: 'retry', reason, status: answer.status, afterMs: MINUTE_MS };
  }
  return consentFor(answer.header('webhook-allowed-rate'), input);
}

/** @param allowedRate events a minute, or `*`; as many as there are where the receiver says nothing */
function consentFor(
  allowedRate: string | null,
  { now, ratePerMinute }: Pick<HandshakeInput, 'now' | 'ratePerMinute'>,
): Consent {
  const rate = allowedRate?.trim() ?? '*';
  const perMinute = /^[1-9]\d{0,8}$/.test(rate) ? Number(rate) : ratePerMinute;
  return { until: now() + CONSENT_MS, perMinute: rate === '*' ? null : perMinute };
}

/** Until it is woken, the time is over, or the signal comes. */
function untilWoken(waiters: Set<() => void>, ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      waiters.delete(wake);
      stopping.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    waiters.add(wake);
    stopping.addEventListener('abort', wake);
    if (stopping.aborted) wake();
  });
}
