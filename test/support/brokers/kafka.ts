import { installed, type ServerProcess, startServer } from './server-process.ts';

export const hasKafka = installed('kcat');

export interface KafkaMock extends ServerProcess {
  /** `kafka://` and the brokers. */
  readonly url: string;
}

/**
 * The mock cluster of librdkafka, of three brokers in the memory of one process. It shows that the protocol is spoken, not
 * that anything is durable.
 */
export async function startKafka(): Promise<KafkaMock> {
  const pattern = /bootstrap\.servers=([0-9.:,]+)/;
  const server = await startServer({
    command: 'kcat',
    // It produces what it reads from its input, which stays open and says nothing.
    args: ['-b', 'unused', '-X', 'test.mock.num.brokers=3', '-d', 'mock', '-P', '-t', 'unused'],
    ready: (output) => pattern.test(output),
  });
  return { ...server, url: `kafka://${pattern.exec(server.output())?.[1] ?? ''}` };
}
