const SECONDS = 60;

/** How busy a connection is: requests on their way, and those begun in the last minute. */
export class Load {
  inFlight = 0;
  readonly #begun = new Uint32Array(SECONDS);
  #second = 0;
  #total = 0;

  /** @param now milliseconds since the epoch */
  begin(now: number): void {
    this.#turnTo(now);
    this.inFlight += 1;
    const slot = this.#second % SECONDS;
    this.#begun[slot] = (this.#begun[slot] ?? 0) + 1;
    this.#total += 1;
  }

  end(): void {
    this.inFlight -= 1;
  }

  recentUse(now: number): number {
    this.#turnTo(now);
    // What began longer ago and is still on its way counts too.
    return Math.max(this.#total, this.inFlight);
  }

  #turnTo(now: number): void {
    const second = Math.floor(now / 1000);
    const passed = second - this.#second;
    if (passed === 0) return;
    if (passed < 0 || passed >= SECONDS) {
      this.#begun.fill(0);
      this.#total = 0;
    } else {
      for (let at = this.#second + 1; at <= second; at += 1) {
        this.#total -= this.#begun[at % SECONDS] ?? 0;
        this.#begun[at % SECONDS] = 0;
      }
    }
    this.#second = second;
  }
}

/** A latency that follows what gets worse at once, and what gets better slowly (peak EWMA, as Finagle balances by it). */
export interface Latency {
  ms: number;
  at: number;
}

/** After so long an earlier peak weighs 1/e. */
const DECAY_MS = 30_000;

export function peak(before: Latency | null, ms: number, now: number): Latency {
  if (before === null || ms >= before.ms) return { ms, at: now };
  const weight = Math.exp(-Math.max(0, now - before.at) / DECAY_MS);
  return { ms: ms + (before.ms - ms) * weight, at: now };
}
