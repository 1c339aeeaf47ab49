import { createHmac } from 'node:crypto';

/** Standard Webhooks: a secret is `whsec_` and base64 of 24 to 64 bytes. @returns null when it is none */
export function webhookKey(secret: string): Buffer | null {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  const key = Buffer.from(text, 'base64');
  return key.length >= 24 && key.length <= 64 && key.toString('base64') === text ? key : null;
}

/**
 * The headers that prove who sent a webhook and when (Standard Webhooks 1.0). The time is that of this attempt, for receivers
 * refuse old ones; the id is the same at every attempt, so that they can tell repeated ones.
 * @param now milliseconds since the epoch
 */
export function signatureHeaders(
  key: Buffer | null,
  id: string,
  body: Uint8Array,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (key === null) return headers;
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${mac}` };
}
