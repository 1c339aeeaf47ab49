import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A mail as it was handed over. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, as they came. */
  readonly text: string;
}

/** A mail server for one test: it speaks enough of RFC 5321 to take mails, with AUTH PLAIN. */
export interface SmtpServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** What clients logged in with, as `user:password`. */
  readonly logins: string[];
  /** Answers each `RCPT TO` with this from now on. */
  refuse(answer: string | null): void;
  close(): Promise<void>;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const logins: string[] = [];
  const sockets = new Set<Socket>();
  let refusal: string | null = null;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let from = '';
    let to: string[] = [];
    let data: string[] | null = null;
    let rest = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    const command = (line: string) => {
      if (data !== null) {
        if (line !== '.') return void data.push(line.replace(/^\./, ''));
        mails.push({ from, to, text: data.join('\n') });
        data = null;
        return say('250 taken as 1');
      }
      const verb = line.slice(0, 4).toUpperCase();
      switch (verb) {
        case 'EHLO':
          say('250-mail.test');
          return say('250 AUTH PLAIN');
        case 'AUTH': {
          const [, user, password] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
            .toString()
            .split('\0');
          logins.push(`${user}:${password}`);
          return say('235 welcome');
        }
        case 'MAIL':
          from = /<(.*)>/.exec(line)?.[1] ?? '';
          to = [];
          return say('250 ok');
        case 'RCPT':
          if (refusal !== null) return say(refusal);
          to.push(/<(.*)>/.exec(line)?.[1] ?? '');
          return say('250 ok');
        case 'DATA':
          data = [];
          return say('354 go on');
        case 'QUIT':
          say('221 bye');
          return socket.end();
        default:
          return say('250 ok');
      }
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) command(line);
    });
    say('220 mail.test');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    logins,
    refuse(answer) {
      refusal = answer;
    },
    async close() {
      if (!server.listening) return;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
