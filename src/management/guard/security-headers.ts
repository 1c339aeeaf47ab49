import { noSniff } from '../../http/server/response.ts';

/** Every answer of this API: never kept by caches, never framed, never run or guessed at by browsers. */
export const securityHeaders: Readonly<Record<string, string>> = {
  ...noSniff,
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
