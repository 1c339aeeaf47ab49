/** Counts calls of the last period, exactly: no window of that length, wherever it begins, has more than were let in. */
export interface SlidingWindow {
  /** Counts a call if there are fewer than `threshold`. @returns what takes it back, or null when there is no room */
  take(threshold: number): (() => void) | null;
  /** Counts a call whatever there is. @returns what takes it back */
  note(): () => void;
  count(): number;
  /** Milliseconds until the oldest call counts no more; the whole period when there is none. */
  nextRoomIn(): number;
}

/** Calls that come within this fraction of the period are counted together, as late as the last of them may have been. */
const SLOTS = 10_000;

interface Slot {
  readonly number: number;
  calls: number;
}

/** @param now milliseconds of a monotonic clock */
export function createSlidingWindow(periodMs: number, now: () => number): SlidingWindow {
  const slotMs = periodMs / SLOTS;
  let slots: Slot[] = [];
  let first = 0;
  let total = 0;
  const expire = () => {
    const oldest = Math.floor(now() / slotMs) - SLOTS;
    for (let slot = slots[first]; slot !== undefined && slot.number <= oldest; slot = slots[first]) {
      total -= slot.calls;
      first += 1;
    }
    if (first < SLOTS) return;
    slots = slots.slice(first);
    first = 0;
  };
  const note = () => {
    const number = Math.ceil(now() / slotMs);
    const last = slots.at(-1);
    const slot = last?.number === number && slots.length > first ? last : { number, calls: 0 };
    if (slot !== last) slots.push(slot);
    slot.calls += 1;
    total += 1;
    return () => {
      expire();
      const counts = (slots[first]?.number ?? Number.POSITIVE_INFINITY) <= slot.number;
      if (!counts) return;
      slot.calls -= 1;
      total -= 1;
    };
  };
  return {
    note,
    take(threshold) {
      expire();
      return total < threshold ? note() : null;
    },
    count() {
      expire();
      return total;
    },
    nextRoomIn() {
      expire();
      const oldest = slots.slice(first).find(({ calls }) => calls > 0);
      return oldest === undefined ? periodMs : Math.max(0, (oldest.number + SLOTS) * slotMs - now());
    },
  };
}
