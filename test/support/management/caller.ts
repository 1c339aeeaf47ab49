import type { Caller } from '../../../src/http/resource.ts';

/** Someone who calls the management API and may do everything. */
export const admin: Caller = {
  userId: 'user_1',
  name: 'admin',
  role: 'admin',
  via: 'token',
  tokenId: 'tok_1',
  passwordAt: 0,
  credentialVersion: 1,
  address: '127.0.0.1',
  requestId: 'req-1',
  can: () => true,
  ended: false,
  narrowed: () => false,
  reaches: () => true,
};
