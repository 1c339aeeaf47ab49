/** The `content-type` of server-sent events. */
export const SSE_TYPE = 'text/event-stream; charset=utf-8';
