import { randomText } from '../../lib/id.ts';

const RANDOM_LENGTH = 12;
const DRAW = 512;

/**
 * A source of request ids: `req_`, 9 base-36 digits of the millisecond and 12 random base-62 characters (71 bits).
 * The random text is drawn for many ids at once, because a draw for each costs a third of an empty exchange.
 */
export function createRequestIds(): (now: number) => string {
  let text = '';
  let offset = 0;
  let lastTime = Number.NaN;
  let timeText = '';
  return (now) => {
    if (offset === text.length) {
      text = randomText(RANDOM_LENGTH * DRAW);
      offset = 0;
    }
    const random = text.slice(offset, offset + RANDOM_LENGTH);
    offset += RANDOM_LENGTH;
    if (now !== lastTime) {
      lastTime = now;
      timeText = `req_${now.toString(36).padStart(9, '0')}`;
    }
    return timeText + random;
  };
}
