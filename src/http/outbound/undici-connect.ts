import buildConnector from 'undici/lib/core/connect.js';

/** The part of undici that opens connections, which the gateway's own client uses too: a start loads no other. */
export { buildConnector };
