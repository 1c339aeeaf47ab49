/** The extension that tells which source an event came in by. */
export const sourceExtension = 'eventsourceid';
