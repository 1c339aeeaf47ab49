import { z } from 'zod';
import type { TunnelKind } from '../kind.ts';

/** One line of `--log-format json`. */
const logLine = z.object({ msg: z.string(), url: z.string().optional(), err: z.string().optional() });

/** An ngrok endpoint. Its authtoken is in ngrok's own configuration (`ngrok config add-authtoken`), or in NGROK_AUTHTOKEN. */
export const ngrok: TunnelKind = {
  id: 'ngrok',
  name: 'ngrok',
  programs: ['ngrok'],
  takesDomain: true,
  usesHome: true,
  variables: ['NGROK_AUTHTOKEN'],
  args: ({ domain, url }) => [
    'http',
    url,
    '--log',
    'stdout',
    '--log-format',
    'json',
    ...(domain === null ? [] : ['--url', `https://${domain}`]),
  ],
  reader: () => (line) => {
    const { err, msg, url } = logLine.safeParse(parsed(line)).data ?? { msg: '' };
    if (msg === 'started tunnel' && url?.startsWith('https://') === true) return { kind: 'url', url };
    if (msg === 'client session established') return { kind: 'connected', connected: true };
    if (msg === 'session closing' || msg === 'failed to reconnect session')
      return problemOf(err ?? '') ?? { kind: 'connected', connected: false };
    return problemOf(err === undefined || err === '<nil>' ? line : err);
  },
};

/** Its sentences repeat the authtoken, so only the number of the error is reported. */
function problemOf(text: string) {
  const code = /ERR_NGROK_\d{1,6}/.exec(text)?.[0];
  if (code === undefined) return null;
  const message = `ngrok refuses: ${code}, see https://ngrok.com/docs/errors/${code.toLowerCase()}`;
  return { kind: 'problem', message } as const;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
