/**
 * What is used of Node's HTTP. An `import` of it would read every name that it exports, and the one called `WebSocket`
 * loads the whole undici inside Node.js: 30 ms and several MB at every start, for nothing.
 */
export const { Agent, createServer, IncomingMessage, request, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
