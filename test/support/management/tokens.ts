import type { ConnectionsInput } from '../../../src/connections/resource.ts';

/** For tests without a login: nobody has a token, and nobody begins to log in. */
export const noTokens: ConnectionsInput['tokens'] = {
  current: () => null,
  fresh: () => Promise.reject(new Error('no token was expected to be asked for')),
  issued: () => [],
};

const unexpected = () => Promise.reject(new Error('no login was expected'));

export const noLogins: Omit<ConnectionsInput, 'connections' | 'health'> = {
  tokens: noTokens,
  logins: {
    browser: unexpected,
    device: unexpected,
    finish: unexpected,
    sweep: async () => {},
    close() {},
  },
  grants: { find: unexpected, end: unexpected },
  beginLoginTask: unexpected,
};
