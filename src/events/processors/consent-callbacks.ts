import { randomBytes } from 'node:crypto';

/** Addresses by which receivers of webhooks consent later (HTTP 1.1 Web Hooks for Event Delivery, section 4.1). */
export interface ConsentCallbacks {
  /**
   * Opens an address.
   * @param granted is told each time that a receiver consents: with the header `WebHook-Allowed-Rate`, null where there was none
   */
  open(trigger: string, granted: (allowedRate: string | null) => void): ConsentCallback;
  /** @returns false where there is no address with this key */
  grant(key: string, allowedRate: string | null): boolean;
}

export interface ConsentCallback {
  /** The path and the query of the address: whoever knows it may consent, so it belongs into no log. */
  readonly path: string;
  close(): void;
}

export const consentPath = '/api/events/consent';

export function createConsentCallbacks(): ConsentCallbacks {
  const callbacks = new Map<string, (allowedRate: string | null) => void>();
  return {
    open(trigger, granted) {
      const key = randomBytes(32).toString('base64url');
      callbacks.set(key, granted);
      return {
        path: `${consentPath}?${new URLSearchParams({ id: trigger, key })}`,
        close: () => void callbacks.delete(key),
      };
    },
    grant(key, allowedRate) {
      const granted = callbacks.get(key);
      granted?.(allowedRate);
      return granted !== undefined;
    },
  };
}
