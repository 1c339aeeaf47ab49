/** A comment line: a record without an event, which every client of the OpenAI formats skips (WHATWG HTML, SSE). */
export const commentKeepAlive = ': keep-alive\n\n';
