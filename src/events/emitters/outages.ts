import type { Emitter } from '../types/emitter.ts';

/** Since when the database cannot be used, and why. */
export interface StoreOutage {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
}

/** How limits are shared with other gateways. */
export interface SharingState {
  /** Null where they are shared. */
  readonly reason: string | null;
  readonly failureMode: 'refuse' | 'local';
}

/** Tells of outages of what gateways share. None is told twice in a row. */
export interface OutageEvents {
  /** @param outage null at its end. @param rowsWaiting records on the local disk */
  storeChanged(outage: StoreOutage | null, rowsWaiting: number): void;
  sharingChanged(state: SharingState): void;
  /** Tells of an outage that began before anybody listened. */
  tellAgain(): void;
}

export function createOutageEvents(emitter: Emitter): OutageEvents {
  let since: number | null = null;
  let sharing: SharingState | null = null;
  const tellSharing = ({ failureMode, reason }: SharingState) =>
    emitter.emit(reason === null ? 'limits.recovered' : 'limits.degraded', {
      subject: null,
      data: { reason, failure_mode: failureMode },
    });
  return {
    storeChanged(outage, rowsWaiting) {
      if (outage === null && since === null) return;
      const began = since ?? outage?.since ?? 0;
      const told = since !== null && outage !== null;
      since = outage === null ? null : began;
      if (told) return;
      emitter.emit(outage === null ? 'store.recovered' : 'store.degraded', {
        subject: null,
        data: {
          reason: outage?.message ?? null,
          since: new Date(began).toISOString(),
          rows_waiting: rowsWaiting,
        },
      });
    },
    sharingChanged(state) {
      const before = sharing?.reason ?? null;
      sharing = state;
      if ((before === null) !== (state.reason === null)) tellSharing(state);
    },
    tellAgain() {
      if (sharing !== null && sharing.reason !== null) tellSharing(sharing);
    },
  };
}
