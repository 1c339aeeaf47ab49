import type { CloudEvent } from './event.ts';

/** The extension that counts from how many channels an event was passed on into another one. */
const hopExtension = 'eventhops';
/** An event that was passed on more often is going round in circles. */
const MOST_HOPS = 8;

/** The event as it goes into the next channel; null when it has been passed on too often. */
export function nextHop({ attributes, data }: CloudEvent): CloudEvent | null {
  const hops = Number(attributes[hopExtension] ?? 0);
  // Somebody else's extension of the same name counts for nothing.
  const passed = Number.isInteger(hops) && hops > 0 ? hops : 0;
  if (passed >= MOST_HOPS) return null;
  return { attributes: { ...attributes, [hopExtension]: passed + 1 }, data };
}
